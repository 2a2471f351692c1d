ALTER TABLE `api_keys` ADD `max_bytes` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `quota_level` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `max_tracks` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `max_bytes` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `quota_level` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `upload_sessions` ADD `api_key_id` text;--> statement-breakpoint
ALTER TABLE `upload_sessions` ADD `max_bytes` integer;--> statement-breakpoint
ALTER TABLE `upload_sessions` ADD `max_tracks` integer;