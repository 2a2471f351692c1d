-- Files stand in their track's row alone (docs/decisions/0030). Written by hand: drizzle-kit knows no triggers.
DROP TRIGGER IF EXISTS track_variants_files;
--> statement-breakpoint
-- A statement has 30 seconds. The first sweep brings the rest, and what an older Worker writes until it is replaced.
UPDATE tracks SET files = (
  SELECT json_group_array(json_object('index', "index", 'path', path, 'size', size, 'bitrate', bitrate,
    'duration', duration, 'variant_id', variant_id, 'is_early', is_early))
  FROM (SELECT * FROM track_variants WHERE track_id = tracks.id ORDER BY rowid)
) WHERE id IN (SELECT DISTINCT track_id FROM track_variants ORDER BY track_id LIMIT 50000);
