ALTER TABLE `shares` ADD `text` text;--> statement-breakpoint
ALTER TABLE `shares` ADD `links` text;