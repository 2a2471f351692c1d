ALTER TABLE `collections` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `collections` ADD `is_ordered` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `uses_tags` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `playlists` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `cover_size` integer;--> statement-breakpoint
ALTER TABLE `tracks` ADD `tags` text;--> statement-breakpoint
-- Tracks that do not stand as they were created have been ordered by somebody.
UPDATE collections SET is_ordered = true WHERE id IN (
  SELECT collection_id FROM (
    SELECT collection_id, created_at < lag(created_at) OVER (PARTITION BY collection_id ORDER BY "order") AS is_moved FROM tracks
  ) WHERE is_moved
);
