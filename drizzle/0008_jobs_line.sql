ALTER TABLE `jobs` ADD `holder` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `turn` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `size_class` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `slot` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `tries` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_line` ON `jobs` (`size_class`,`turn`) WHERE state = 'open' and turn is not null and slot is null;--> statement-breakpoint
CREATE INDEX `jobs_organization` ON `jobs` (`organization_id`,`turn`) WHERE state = 'open' and turn is not null and is_background = 0;--> statement-breakpoint
CREATE INDEX `jobs_slot` ON `jobs` (`slot`) WHERE slot is not null;