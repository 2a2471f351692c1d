CREATE TABLE `heartbeats` (
	`name` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `jobs_failed` ON `jobs` (`created_at`) WHERE state = 'failed';