ALTER TABLE `tracks` ADD `edited_tags` text;--> statement-breakpoint
ALTER TABLE `tracks` ADD `file_tags` text;--> statement-breakpoint
ALTER TABLE `tracks` ADD `chapters` text;