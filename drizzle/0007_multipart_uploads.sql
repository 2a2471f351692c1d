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
CREATE INDEX `multipart_uploads_end` ON `multipart_uploads` (`expires_at`);