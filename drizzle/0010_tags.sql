ALTER TABLE `collections` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `collections` ADD `is_ordered` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `uses_tags` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `playlists` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `tags` text;