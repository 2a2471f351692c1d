CREATE TABLE IF NOT EXISTS `listening_folds` (`organization_id` text NOT NULL, `shard` integer NOT NULL, `due_at` integer NOT NULL, PRIMARY KEY (`organization_id`, `shard`)) WITHOUT ROWID;
