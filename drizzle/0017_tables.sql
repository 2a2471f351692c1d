-- From here on, drizzle-kit knows the tables without rowid, which 0001 to 0016 created.
CREATE TABLE IF NOT EXISTS `heartbeats` (
	`name` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`report` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `list_counts` (
	`list` text NOT NULL,
	`level` integer NOT NULL,
	`bucket` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`list`, `level`, `bucket`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `listening_folds` (
	`organization_id` text NOT NULL,
	`shard` integer NOT NULL,
	`due_at` integer NOT NULL,
	`bytes` integer,
	PRIMARY KEY(`organization_id`, `shard`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `listening_folds_due` ON `listening_folds` (`due_at`) WHERE due_at > 0;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `listening_folds_bytes` ON `listening_folds` (`bytes`);--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `events` (
	`organization_id` text NOT NULL,
	`seq` integer NOT NULL,
	`id` text DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))) NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`sequence` integer GENERATED ALWAYS AS (seq) VIRTUAL NOT NULL,
	`actor` text,
	`data` text NOT NULL,
	`created_at` integer DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)) NOT NULL,
	PRIMARY KEY(`organization_id`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `play_sessions` (
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
	`created_at` integer NOT NULL,
	`share_id` text,
	`listener` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `reservations` (
	`organization_id` text NOT NULL,
	`track_id` text NOT NULL,
	`upload_session_id` text,
	`api_key_id` text,
	`day` integer NOT NULL,
	`reserved` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`uploaded` integer DEFAULT 0 NOT NULL,
	`unprocessed` integer DEFAULT 0 NOT NULL,
	`trashed` integer DEFAULT 0 NOT NULL,
	`changes_level` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`organization_id`, `track_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `reservations_key` ON `reservations` (`day`,`api_key_id`) WHERE upload_session_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `reservations_session` ON `reservations` (`upload_session_id`) WHERE upload_session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `retired_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`share_id` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `usage_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`at` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `usage_days` (
	`organization_id` text NOT NULL,
	`date` text NOT NULL,
	`milliseconds` integer DEFAULT 0 NOT NULL,
	`uploads` integer DEFAULT 0 NOT NULL,
	`upload_bytes` integer DEFAULT 0 NOT NULL,
	`sessions` integer DEFAULT 0 NOT NULL,
	`files` text DEFAULT '{}' NOT NULL,
	PRIMARY KEY(`organization_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `usage_days_date` ON `usage_days` (`date`);--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `webhook_deliveries` (
	`endpoint_id` text NOT NULL,
	`seq` integer NOT NULL,
	`state` text DEFAULT 'pending' NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`subject` text,
	`attempts` text DEFAULT '[]' NOT NULL,
	PRIMARY KEY(`endpoint_id`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `webhook_deliveries_held` ON `webhook_deliveries` (`endpoint_id`,`seq`) WHERE due_at IS NULL AND state = 'pending';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `webhook_deliveries_subject` ON `webhook_deliveries` (`endpoint_id`,`subject`,`seq`) WHERE subject IS NOT NULL;--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`url` text NOT NULL,
	`title` text NOT NULL,
	`events` text NOT NULL,
	`is_ordered` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_expires_at` integer,
	`failing_since` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_success_at` integer,
	`swept_until` integer NOT NULL,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `webhook_endpoints_list` ON `webhook_endpoints` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS `webhook_endpoints_swept` ON `webhook_endpoints` (`swept_until`);