CREATE TABLE `source_urls` (
	`track_id` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
) WITHOUT ROWID;
