CREATE TABLE `heartbeats` (
	`name` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`report` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `list_counts` (
	`list` text NOT NULL,
	`level` integer NOT NULL,
	`bucket` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`list`, `level`, `bucket`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `listening_folds` (
	`organization_id` text NOT NULL,
	`shard` integer NOT NULL,
	`due_at` integer NOT NULL,
	`bytes` integer,
	PRIMARY KEY(`organization_id`, `shard`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `listening_folds_due` ON `listening_folds` (`due_at`) WHERE due_at > 0;--> statement-breakpoint
CREATE INDEX `listening_folds_bytes` ON `listening_folds` (`bytes`);--> statement-breakpoint
CREATE TABLE `events` (
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
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`type` text NOT NULL,
	`title` text NOT NULL,
	`hash` text NOT NULL,
	`previous_hash` text,
	`previous_expires_at` integer,
	`hint` text NOT NULL,
	`collection_id` text,
	`track_id` text,
	`playlist_id` text,
	`variants` text,
	`allowed_origins` text,
	`is_downloadable` integer DEFAULT false NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`max_bytes` integer,
	`quota_level` integer DEFAULT 0 NOT NULL,
	`max_tracks` integer,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_previous` ON `api_keys` (`previous_hash`) WHERE previous_hash is not null;--> statement-breakpoint
CREATE INDEX `api_keys_list` ON `api_keys` (`organization_id`,`seq`);--> statement-breakpoint
CREATE TABLE `collections` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`creator_id` text,
	`organization_index` text,
	`title` text NOT NULL,
	`metadata` text NOT NULL,
	`theme` text NOT NULL,
	`is_cover_overridable` integer DEFAULT true NOT NULL,
	`is_theme_overridable` integer DEFAULT true NOT NULL,
	`player_color` text,
	`player_subtitle` text,
	`cover_path` text,
	`cover_colors` text NOT NULL,
	`cover_size` integer,
	`cover_job_id` text,
	`is_ordered` integer DEFAULT false NOT NULL,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`folded` text
);
--> statement-breakpoint
CREATE INDEX `collections_list` ON `collections` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `collections_creator` ON `collections` (`organization_id`,`creator_id`,`seq`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `collections_index` ON `collections` (`organization_id`,`organization_index`,`seq`) WHERE organization_index is not null;--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`theme` text NOT NULL,
	`is_theme_overridable` integer DEFAULT true NOT NULL,
	`is_cover_overridable` integer DEFAULT true NOT NULL,
	`player_color` text,
	`player_subtitle` text,
	`uses_tags` integer DEFAULT true NOT NULL,
	`listening_shards` integer DEFAULT 1 NOT NULL,
	`progress_days` integer DEFAULT 400 NOT NULL,
	`listener_key` text,
	`max_bytes` integer,
	`quota_level` integer DEFAULT 0 NOT NULL,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE INDEX `organizations_list` ON `organizations` (`seq`);--> statement-breakpoint
CREATE TABLE `playlist_tracks` (
	`id` text PRIMARY KEY NOT NULL,
	`playlist_id` text NOT NULL,
	`track_id` text NOT NULL,
	`position` real NOT NULL
);
--> statement-breakpoint
CREATE INDEX `playlist_tracks_list` ON `playlist_tracks` (`playlist_id`,`position`);--> statement-breakpoint
CREATE INDEX `playlist_tracks_track` ON `playlist_tracks` (`track_id`,`playlist_id`);--> statement-breakpoint
CREATE TABLE `playlists` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`creator_id` text,
	`organization_index` text,
	`title` text NOT NULL,
	`metadata` text NOT NULL,
	`theme` text NOT NULL,
	`player_color` text,
	`player_subtitle` text,
	`cover_path` text,
	`cover_colors` text NOT NULL,
	`cover_size` integer,
	`cover_job_id` text,
	`track_count` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`change_id` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`folded` text
);
--> statement-breakpoint
CREATE INDEX `playlists_list` ON `playlists` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `playlists_creator` ON `playlists` (`organization_id`,`creator_id`,`seq`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `playlists_index` ON `playlists` (`organization_id`,`organization_index`,`seq`) WHERE organization_index is not null;--> statement-breakpoint
CREATE INDEX `playlists_change` ON `playlists` (`change_id`) WHERE change_id is not null;--> statement-breakpoint
CREATE TABLE `tracks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`collection_id` text NOT NULL,
	`folder_id` text,
	`upload_session_id` text,
	`creator_id` text,
	`index` text NOT NULL,
	`duration` real DEFAULT 0 NOT NULL,
	`file_name` text NOT NULL,
	`file_name_original` text,
	`organization_index` text,
	`order` integer NOT NULL,
	`metadata` text NOT NULL,
	`is_cover_overridable` integer DEFAULT true NOT NULL,
	`is_theme_overridable` integer DEFAULT true NOT NULL,
	`player_title` text,
	`player_color` text,
	`player_subtitle` text,
	`cover_path` text,
	`cover_colors` text NOT NULL,
	`cover_size` integer,
	`cover_job_id` text,
	`status` text NOT NULL,
	`progress` real,
	`job_id` text,
	`source_suffix` text,
	`source_size` integer,
	`upload_suffix` text DEFAULT '' NOT NULL,
	`upload_expires_at` integer NOT NULL,
	`awaiting_upload` integer NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`info` text NOT NULL,
	`tags` text,
	`folded` text,
	`made_with` text,
	`files` text,
	`levels` blob,
	`edited_tags` text,
	`file_tags` text,
	`chapters` text,
	`source_path` text GENERATED ALWAYS AS ('uploads/' || "organization_id" || '/' || coalesce("folder_id", "collection_id") || '/' || "id" || source_suffix) VIRTUAL,
	`upload_path` text GENERATED ALWAYS AS ('uploads/' || "organization_id" || '/' || coalesce("folder_id", "collection_id") || '/' || "id" || upload_suffix) VIRTUAL NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tracks_list` ON `tracks` (`collection_id`,`order`,`id`);--> statement-breakpoint
CREATE INDEX `tracks_walk` ON `tracks` (`collection_id`,`id`);--> statement-breakpoint
CREATE INDEX `tracks_status` ON `tracks` (`collection_id`,`status`,`order`);--> statement-breakpoint
CREATE INDEX `tracks_creator` ON `tracks` (`collection_id`,`creator_id`,`order`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `tracks_index` ON `tracks` (`collection_id`,`organization_index`,`order`) WHERE organization_index is not null;--> statement-breakpoint
CREATE INDEX `tracks_created` ON `tracks` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `tracks_duration` ON `tracks` (`organization_id`,`duration`) WHERE duration > 0;--> statement-breakpoint
CREATE INDEX `tracks_failed` ON `tracks` (`organization_id`,`created_at`) WHERE status in ('failed', 'incomplete');--> statement-breakpoint
CREATE INDEX `tracks_folder` ON `tracks` (`folder_id`,`id`) WHERE folder_id is not null;--> statement-breakpoint
CREATE INDEX `tracks_waiting` ON `tracks` (`next_check_at`) WHERE awaiting_upload = 1;--> statement-breakpoint
CREATE TABLE `upload_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`collection_id` text NOT NULL,
	`creator_id` text,
	`organization_index` text,
	`metadata` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`api_key_id` text,
	`max_bytes` integer,
	`max_tracks` integer
);
--> statement-breakpoint
CREATE INDEX `upload_sessions_expiry` ON `upload_sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `upload_sessions_collection` ON `upload_sessions` (`collection_id`);--> statement-breakpoint
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
CREATE TABLE `play_sessions` (
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
CREATE TABLE `reservations` (
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
CREATE INDEX `reservations_key` ON `reservations` (`day`,`api_key_id`) WHERE upload_session_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `reservations_session` ON `reservations` (`upload_session_id`) WHERE upload_session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `retired_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`share_id` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `shares` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`slug` text NOT NULL,
	`is_custom_slug` integer NOT NULL,
	`scope` text NOT NULL,
	`resource_id` text NOT NULL,
	`title` text,
	`text` text,
	`links` text,
	`variants` text,
	`is_downloadable` integer DEFAULT false NOT NULL,
	`allowed_origins` text,
	`expires_at` integer,
	`password_hash` text,
	`session_days` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_slug` ON `shares` (`slug`);--> statement-breakpoint
CREATE INDEX `shares_list` ON `shares` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `shares_resource` ON `shares` (`resource_id`,`seq`);--> statement-breakpoint
CREATE TABLE `trash` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`scope` text NOT NULL,
	`title` text NOT NULL,
	`collection_id` text,
	`folder_id` text,
	`seq` integer NOT NULL,
	`trashed_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`content` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `trash_list` ON `trash` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `trash_expiry` ON `trash` (`expires_at`);--> statement-breakpoint
CREATE INDEX `trash_collection` ON `trash` (`collection_id`) WHERE collection_id is not null;--> statement-breakpoint
CREATE INDEX `trash_hidden` ON `trash` (`organization_id`) WHERE scope = 'collection';--> statement-breakpoint
CREATE INDEX `trash_folder` ON `trash` (`folder_id`) WHERE folder_id is not null;--> statement-breakpoint
CREATE TABLE `upload_handles` (
	`track_id` text NOT NULL,
	`path` text NOT NULL,
	`expires_at` integer NOT NULL,
	`check_at` integer NOT NULL,
	`state` text DEFAULT 'open' NOT NULL,
	`file_name` text,
	`file_name_original` text,
	`folded_name` text,
	`listed_name` text NOT NULL,
	PRIMARY KEY(`track_id`, `path`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `upload_handles_check` ON `upload_handles` (`check_at`);--> statement-breakpoint
CREATE TABLE `usage_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`at` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_days` (
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
CREATE INDEX `usage_days_date` ON `usage_days` (`date`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
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
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_held` ON `webhook_deliveries` (`endpoint_id`,`seq`) WHERE due_at IS NULL AND state = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_subject` ON `webhook_deliveries` (`endpoint_id`,`subject`,`seq`) WHERE subject IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
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
CREATE INDEX `webhook_endpoints_list` ON `webhook_endpoints` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_swept` ON `webhook_endpoints` (`swept_until`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`request_hash` text NOT NULL,
	`response` text,
	`seed` text DEFAULT '' NOT NULL,
	`holder` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`payload` text NOT NULL,
	`state` text DEFAULT 'open' NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`holder` text,
	`pass` text DEFAULT 'strict' NOT NULL,
	`lease_until` integer NOT NULL,
	`wake_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`error` text,
	`rank` integer,
	`size_class` integer DEFAULT 0 NOT NULL,
	`slot` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`is_background` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_open` ON `jobs` (`wake_at`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `jobs_queue` ON `jobs` (`size_class`,`rank`) WHERE state = 'open' and rank is not null and slot is null;--> statement-breakpoint
CREATE INDEX `jobs_organization` ON `jobs` (`organization_id`,`rank`) WHERE state = 'open' and rank is not null and is_background = 0;--> statement-breakpoint
CREATE INDEX `jobs_slot` ON `jobs` (`slot`) WHERE slot is not null;--> statement-breakpoint
CREATE INDEX `jobs_age` ON `jobs` (`created_at`);--> statement-breakpoint
CREATE INDEX `jobs_background` ON `jobs` (`id`) WHERE state = 'open' and is_background = 1;--> statement-breakpoint
CREATE INDEX `jobs_failed` ON `jobs` (`created_at`) WHERE state = 'failed';--> statement-breakpoint
CREATE TABLE `multipart_uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`track_id` text NOT NULL,
	`path` text NOT NULL,
	`upload_id` text NOT NULL,
	`file_size` integer NOT NULL,
	`part_size` integer NOT NULL,
	`part_count` integer NOT NULL,
	`fingerprint` text,
	`parts` text NOT NULL,
	`state` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `multipart_uploads_track` ON `multipart_uploads` (`track_id`);--> statement-breakpoint
CREATE INDEX `multipart_uploads_end` ON `multipart_uploads` (`expires_at`);--> statement-breakpoint
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
CREATE TABLE `search_fills` (
	`kind` text PRIMARY KEY NOT NULL,
	`cursor` integer NOT NULL
);
