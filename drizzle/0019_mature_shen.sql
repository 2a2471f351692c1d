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
CREATE INDEX `upload_handles_check` ON `upload_handles` (`check_at`);