ALTER TABLE `tracks` ADD `episode` text;--> statement-breakpoint
ALTER TABLE `shares` ADD `feed` text;