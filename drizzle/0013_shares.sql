CREATE TABLE `shares` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`slug` text NOT NULL,
	`is_slug_own` integer NOT NULL,
	`scope` text NOT NULL,
	`resource_id` text NOT NULL,
	`title` text,
	`variants` text,
	`is_downloadable` integer DEFAULT false NOT NULL,
	`allowed_origins` text,
	`expires_at` integer,
	`password_hash` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_slug` ON `shares` (`slug`);--> statement-breakpoint
CREATE INDEX `shares_list` ON `shares` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `shares_resource` ON `shares` (`resource_id`,`seq`);