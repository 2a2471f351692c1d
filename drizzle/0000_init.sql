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
	`cover_job_id` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `collections_list` ON `collections` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `collections_creator` ON `collections` (`organization_id`,`creator_id`,`seq`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `collections_index` ON `collections` (`organization_id`,`organization_index`,`seq`) WHERE organization_index is not null;--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`request_hash` text NOT NULL,
	`answer` text,
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
	`pass` text DEFAULT 'strict' NOT NULL,
	`lease_until` integer NOT NULL,
	`nudge_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`error` text
);
--> statement-breakpoint
CREATE INDEX `jobs_open` ON `jobs` (`nudge_at`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `jobs_age` ON `jobs` (`created_at`);--> statement-breakpoint
CREATE TABLE `list_counts` (
	`list` text NOT NULL,
	`level` integer NOT NULL,
	`bucket` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`list`, `level`, `bucket`)
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`theme` text NOT NULL,
	`is_theme_overridable` integer DEFAULT true NOT NULL,
	`is_cover_overridable` integer DEFAULT true NOT NULL,
	`player_color` text,
	`player_subtitle` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `organizations_list` ON `organizations` (`seq`);--> statement-breakpoint
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
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `play_sessions_expiry` ON `play_sessions` (`expires_at`);--> statement-breakpoint
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
	`cover_job_id` text,
	`track_count` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`change_id` text,
	`seq` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `playlists_list` ON `playlists` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `playlists_creator` ON `playlists` (`organization_id`,`creator_id`,`seq`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `playlists_index` ON `playlists` (`organization_id`,`organization_index`,`seq`) WHERE organization_index is not null;--> statement-breakpoint
CREATE INDEX `playlists_change` ON `playlists` (`change_id`) WHERE change_id is not null;--> statement-breakpoint
CREATE TABLE `track_variants` (
	`track_id` text NOT NULL,
	`index` text NOT NULL,
	`path` text NOT NULL,
	`size` integer NOT NULL,
	`bitrate` integer NOT NULL,
	`duration` real NOT NULL,
	PRIMARY KEY(`track_id`, `index`)
);
--> statement-breakpoint
CREATE TABLE `tracks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`collection_id` text NOT NULL,
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
	`player_subtitle` text,
	`player_color` text,
	`cover_path` text,
	`cover_colors` text NOT NULL,
	`cover_job_id` text,
	`status` text NOT NULL,
	`progress` real,
	`job_id` text,
	`source_path` text,
	`source_size` integer,
	`upload_path` text NOT NULL,
	`upload_expires_at` integer NOT NULL,
	`awaiting_upload` integer NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`info` text NOT NULL,
	`levels` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tracks_list` ON `tracks` (`collection_id`,`order`,`id`);--> statement-breakpoint
CREATE INDEX `tracks_status` ON `tracks` (`collection_id`,`status`,`order`);--> statement-breakpoint
CREATE INDEX `tracks_creator` ON `tracks` (`collection_id`,`creator_id`,`order`) WHERE creator_id is not null;--> statement-breakpoint
CREATE INDEX `tracks_index` ON `tracks` (`collection_id`,`organization_index`,`order`) WHERE organization_index is not null;--> statement-breakpoint
CREATE INDEX `tracks_waiting` ON `tracks` (`next_check_at`) WHERE awaiting_upload = 1;--> statement-breakpoint
CREATE TABLE `upload_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`collection_id` text NOT NULL,
	`creator_id` text,
	`organization_index` text,
	`metadata` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `upload_sessions_expiry` ON `upload_sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `upload_sessions_collection` ON `upload_sessions` (`collection_id`);