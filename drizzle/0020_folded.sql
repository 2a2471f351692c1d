ALTER TABLE `collections` ADD `folded` text;--> statement-breakpoint
ALTER TABLE `playlists` ADD `folded` text;--> statement-breakpoint
ALTER TABLE `tracks` ADD `folded` text;