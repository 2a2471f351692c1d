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
CREATE INDEX `trash_folder` ON `trash` (`folder_id`) WHERE folder_id is not null;