-- Triggers that keep list_counts; see src/adapters/schema.ts. Written by hand: drizzle-kit knows no triggers.
--> statement-breakpoint
CREATE TRIGGER organizations_count_insert AFTER INSERT ON organizations BEGIN
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'organizations', 0, 0, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'organizations', 1, new.seq >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'organizations', 2, new.seq >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER organizations_count_delete AFTER DELETE ON organizations BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'organizations' AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'organizations' AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'organizations' AND level = 1 AND bucket = old.seq >> 8;
  DELETE FROM list_counts WHERE list = 'organizations' AND level = 1 AND bucket = old.seq >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'organizations' AND level = 2 AND bucket = old.seq >> 14;
  DELETE FROM list_counts WHERE list = 'organizations' AND level = 2 AND bucket = old.seq >> 14 AND count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER api_keys_count_insert AFTER INSERT ON api_keys BEGIN
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'api_keys:' || new.organization_id, 0, 0, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'api_keys:' || new.organization_id, 1, new.seq >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'api_keys:' || new.organization_id, 2, new.seq >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER api_keys_count_delete AFTER DELETE ON api_keys BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'api_keys:' || old.organization_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'api_keys:' || old.organization_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'api_keys:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8;
  DELETE FROM list_counts WHERE list = 'api_keys:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'api_keys:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14;
  DELETE FROM list_counts WHERE list = 'api_keys:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14 AND count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER collections_count_insert AFTER INSERT ON collections BEGIN
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id, 0, 0, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id, 1, new.seq >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id, 2, new.seq >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER collections_count_delete AFTER DELETE ON collections BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER collections_count_creator_id AFTER UPDATE OF creator_id ON collections WHEN old.creator_id IS NOT new.creator_id BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER collections_count_organization_index AFTER UPDATE OF organization_index ON collections WHEN old.organization_index IS NOT new.organization_index BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'collections:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'collections:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'collections:' || new.organization_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER playlists_count_insert AFTER INSERT ON playlists BEGIN
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id, 0, 0, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id, 1, new.seq >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id, 2, new.seq >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER playlists_count_delete AFTER DELETE ON playlists BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id AND level = 1 AND bucket = old.seq >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id AND level = 2 AND bucket = old.seq >> 14 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER playlists_count_creator_id AFTER UPDATE OF creator_id ON playlists WHEN old.creator_id IS NOT new.creator_id BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER playlists_count_organization_index AFTER UPDATE OF organization_index ON playlists WHEN old.organization_index IS NOT new.organization_index BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'playlists:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'playlists:' || old.organization_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'playlists:' || new.organization_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_insert AFTER INSERT ON tracks BEGIN
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id, 0, 0, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id, 1, new."order" >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id, 2, new."order" >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?status=' || new.status, 0, 0, 1 WHERE new.status IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_delete AFTER DELETE ON tracks BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id AND level = 1 AND bucket = old."order" >> 8;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id AND level = 1 AND bucket = old."order" >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id AND level = 2 AND bucket = old."order" >> 14;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id AND level = 2 AND bucket = old."order" >> 14 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?status=' || old.status AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?status=' || old.status AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_status AFTER UPDATE OF status ON tracks WHEN old.status IS NOT new.status BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?status=' || old.status AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?status=' || old.status AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?status=' || new.status, 0, 0, 1 WHERE new.status IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_creator_id AFTER UPDATE OF creator_id ON tracks WHEN old.creator_id IS NOT new.creator_id BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?creator_id=' || old.creator_id AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?creator_id=' || new.creator_id, 0, 0, 1 WHERE new.creator_id IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_organization_index AFTER UPDATE OF organization_index ON tracks WHEN old.organization_index IS NOT new.organization_index BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id || '?organization_index=' || old.organization_index AND level = 0 AND bucket = 0 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id || '?organization_index=' || new.organization_index, 0, 0, 1 WHERE new.organization_index IS NOT NULL
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER tracks_count_order AFTER UPDATE OF "order" ON tracks WHEN (old."order" >> 8) <> (new."order" >> 8) BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id AND level = 1 AND bucket = old."order" >> 8;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id AND level = 1 AND bucket = old."order" >> 8 AND count = 0;
  UPDATE list_counts SET count = count - 1 WHERE list = 'tracks:' || old.collection_id AND level = 2 AND bucket = old."order" >> 14;
  DELETE FROM list_counts WHERE list = 'tracks:' || old.collection_id AND level = 2 AND bucket = old."order" >> 14 AND count = 0;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id, 1, new."order" >> 8, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
  INSERT INTO list_counts (list, level, bucket, count) SELECT 'tracks:' || new.collection_id, 2, new."order" >> 14, 1 WHERE true
    ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;
END;
