ALTER TABLE `listening_folds` ADD `bytes` integer;
--> statement-breakpoint
-- Whole table: listening_folds is new, and has a row for each organization with listeners.
CREATE INDEX IF NOT EXISTS `listening_folds_bytes` ON `listening_folds` (`bytes`);
