CREATE TABLE `variants` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`index` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`codec` text NOT NULL,
	`bitrate` integer NOT NULL,
	`channels` integer,
	`start` real,
	`length` real,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variants_index` ON `variants` (`organization_id`,`index`);--> statement-breakpoint
CREATE INDEX `variants_list` ON `variants` (`organization_id`,`seq`);--> statement-breakpoint
CREATE TABLE `reprocesses` (
	`collection_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`job_id` text NOT NULL,
	`state` text NOT NULL,
	`all` integer NOT NULL,
	`wanted` text NOT NULL,
	`cursor` text NOT NULL,
	`waiting` text NOT NULL,
	`total` integer NOT NULL,
	`done` integer NOT NULL,
	`failed` integer NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
ALTER TABLE `jobs` ADD `is_background` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_background` ON `jobs` (`id`) WHERE state = 'open' and is_background = 1;--> statement-breakpoint
ALTER TABLE `track_variants` ADD `variant_id` text;--> statement-breakpoint
ALTER TABLE `track_variants` ADD `is_early` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `track_variants_own` ON `track_variants` (`variant_id`) WHERE variant_id is not null;--> statement-breakpoint
ALTER TABLE `tracks` ADD `made_with` text;--> statement-breakpoint
CREATE INDEX `tracks_walk` ON `tracks` (`collection_id`,`id`);