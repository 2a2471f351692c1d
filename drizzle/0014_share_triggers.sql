-- Counts of the lists of shares, as 0001_list_counts. What is deleted takes its shares along, and a slug that was given out stays taken,
-- so that an old link never leads to something else. Written by hand: drizzle-kit knows neither triggers nor WITHOUT ROWID.
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `former_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`share_id` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS shares_slug_delete AFTER DELETE ON shares BEGIN INSERT INTO former_slugs (slug, share_id) VALUES (old.slug, old.id) ON CONFLICT (slug) DO NOTHING; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS shares_slug_update AFTER UPDATE OF slug ON shares WHEN old.slug <> new.slug BEGIN INSERT INTO former_slugs (slug, share_id) VALUES (old.slug, old.id) ON CONFLICT (slug) DO NOTHING; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS shares_count_insert AFTER INSERT ON shares BEGIN INSERT INTO list_counts (list, level, bucket, count) SELECT 'shares:' || new.organization_id, 0, 0, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; INSERT INTO list_counts (list, level, bucket, count) SELECT 'shares:' || new.organization_id, 1, new.seq >> 8, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; INSERT INTO list_counts (list, level, bucket, count) SELECT 'shares:' || new.organization_id, 2, new.seq >> 14, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; INSERT INTO list_counts (list, level, bucket, count) SELECT 'shares:' || new.organization_id || '?resource_id=' || new.resource_id, 0, 0, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS shares_count_delete AFTER DELETE ON shares BEGIN UPDATE list_counts SET count = count - 1 WHERE list = 'shares:' || old.organization_id AND level = 0 AND bucket = 0; DELETE FROM list_counts WHERE list = 'shares:' || old.organization_id AND level = 0 AND bucket = 0 AND count = 0; UPDATE list_counts SET count = count - 1 WHERE list = 'shares:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8; DELETE FROM list_counts WHERE list = 'shares:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8 AND count = 0; UPDATE list_counts SET count = count - 1 WHERE list = 'shares:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14; DELETE FROM list_counts WHERE list = 'shares:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14 AND count = 0; UPDATE list_counts SET count = count - 1 WHERE list = 'shares:' || old.organization_id || '?resource_id=' || old.resource_id AND level = 0 AND bucket = 0; DELETE FROM list_counts WHERE list = 'shares:' || old.organization_id || '?resource_id=' || old.resource_id AND level = 0 AND bucket = 0 AND count = 0; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS collections_shares AFTER DELETE ON collections BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_shares AFTER DELETE ON tracks BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS playlists_shares AFTER DELETE ON playlists BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
