-- Counts of the lists of what is in the trash, as 0001_list_counts. Shares stay as long as what they share can come back.
-- Written by hand: drizzle-kit knows no triggers.
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS trash_count_insert AFTER INSERT ON trash BEGIN INSERT INTO list_counts (list, level, bucket, count) SELECT 'trash:' || new.organization_id, 0, 0, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; INSERT INTO list_counts (list, level, bucket, count) SELECT 'trash:' || new.organization_id, 1, new.seq >> 8, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; INSERT INTO list_counts (list, level, bucket, count) SELECT 'trash:' || new.organization_id, 2, new.seq >> 14, 1 WHERE true ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS trash_count_delete AFTER DELETE ON trash BEGIN UPDATE list_counts SET count = count - 1 WHERE list = 'trash:' || old.organization_id AND level = 0 AND bucket = 0; DELETE FROM list_counts WHERE list = 'trash:' || old.organization_id AND level = 0 AND bucket = 0 AND count = 0; UPDATE list_counts SET count = count - 1 WHERE list = 'trash:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8; DELETE FROM list_counts WHERE list = 'trash:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8 AND count = 0; UPDATE list_counts SET count = count - 1 WHERE list = 'trash:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14; DELETE FROM list_counts WHERE list = 'trash:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14 AND count = 0; END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS collections_shares;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS collections_shares AFTER DELETE ON collections WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id) BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS tracks_shares;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_shares AFTER DELETE ON tracks WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id) BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS playlists_shares;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS playlists_shares AFTER DELETE ON playlists WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id) BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS trash_shares AFTER DELETE ON trash WHEN NOT EXISTS (SELECT 1 FROM collections WHERE id = old.id) AND NOT EXISTS (SELECT 1 FROM tracks WHERE id = old.id) AND NOT EXISTS (SELECT 1 FROM playlists WHERE id = old.id) BEGIN DELETE FROM shares WHERE resource_id = old.id; END;
