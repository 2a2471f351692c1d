-- A copy of what play views need of track_variants, in the track's own row. Written by hand: drizzle-kit knows no triggers.
-- Whoever takes a file away, also an older Worker that does not know the copy, empties it: then the rows are read.
CREATE TRIGGER IF NOT EXISTS track_variants_files AFTER DELETE ON track_variants BEGIN UPDATE tracks SET files = NULL WHERE id = old.track_id AND files IS NOT NULL; END;
--> statement-breakpoint
-- A statement has 30 seconds: tracks beyond these are read the longer way until they are processed again.
UPDATE tracks SET files = (
  SELECT json_group_array(json_object('index', "index", 'path', path, 'bitrate', bitrate, 'is_early', is_early))
  FROM track_variants WHERE track_id = tracks.id
) WHERE id IN (SELECT DISTINCT track_id FROM track_variants LIMIT 50000);
