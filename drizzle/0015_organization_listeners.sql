ALTER TABLE `organizations` ADD `progress_days` integer DEFAULT 400 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `listener_key` text;