-- Whole table: listening_folds is new, and has a row for each organization with listeners.
CREATE INDEX IF NOT EXISTS `listening_folds_due` ON `listening_folds` (`due_at`) WHERE due_at > 0;
