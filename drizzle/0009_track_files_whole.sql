-- Files stand in their track's row alone (docs/decisions/0030). Written by hand: drizzle-kit knows no triggers.
DROP TRIGGER IF EXISTS track_variants_files;
--> statement-breakpoint
-- What an older Worker writes until it is replaced is newer than what stands in the track's row.
CREATE TRIGGER IF NOT EXISTS track_variants_written AFTER INSERT ON track_variants BEGIN UPDATE tracks SET files = NULL WHERE id = new.track_id AND files IS NOT NULL; END;
--> statement-breakpoint
-- A statement has 30 seconds. The first sweep brings the rest. Only this version writes sizes: those are newer than the table.
UPDATE tracks SET files = (
  SELECT json_group_array(json_object('index', "index", 'path', path, 'size', size, 'bitrate', bitrate,
    'duration', duration, 'variant_id', variant_id, 'is_early', is_early))
  FROM (SELECT * FROM track_variants WHERE track_id = tracks.id ORDER BY rowid)
) WHERE id IN (SELECT DISTINCT track_id FROM track_variants ORDER BY track_id LIMIT 50000) AND files ->> '$[0].size' IS NULL;
