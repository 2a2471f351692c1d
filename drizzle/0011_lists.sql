CREATE TABLE `search_fills` (
	`kind` text PRIMARY KEY NOT NULL,
	`cursor` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `collections` ADD `updated_at` integer;--> statement-breakpoint
ALTER TABLE `playlists` ADD `updated_at` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `updated_at` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `folder_id` text;--> statement-breakpoint
CREATE INDEX `tracks_created` ON `tracks` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `tracks_duration` ON `tracks` (`organization_id`,`duration`) WHERE duration > 0;--> statement-breakpoint
CREATE INDEX `tracks_failed` ON `tracks` (`organization_id`,`created_at`) WHERE status in ('failed', 'incomplete');--> statement-breakpoint
CREATE INDEX `tracks_folder` ON `tracks` (`folder_id`,`id`) WHERE folder_id is not null;