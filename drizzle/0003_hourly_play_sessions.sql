-- Play sessions by the hour of their end, see src/adapters/play_sessions.ts. Written by hand: drizzle-kit knows no WITHOUT ROWID.
--> statement-breakpoint
CREATE TABLE `hourly_play_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`scope` text NOT NULL,
	`resource_id` text NOT NULL,
	`creator_id` text,
	`organization_index` text,
	`metadata` text NOT NULL,
	`variants` text NOT NULL,
	`is_downloadable` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID;
