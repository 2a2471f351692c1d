-- The search (src/adapters/search.ts) with triggers that read folded texts. The sweep folds the rows that exist.
-- Written by hand: drizzle-kit knows no triggers.
--> statement-breakpoint
DROP TRIGGER IF EXISTS tracks_search_insert;
--> statement-breakpoint
DROP TRIGGER IF EXISTS tracks_search_update;
--> statement-breakpoint
DROP TRIGGER IF EXISTS collections_search_insert;
--> statement-breakpoint
DROP TRIGGER IF EXISTS collections_search_update;
--> statement-breakpoint
DROP TRIGGER IF EXISTS playlists_search_insert;
--> statement-breakpoint
DROP TRIGGER IF EXISTS playlists_search_update;
--> statement-breakpoint
CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(scope, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2 3');
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_search_insert AFTER INSERT ON tracks BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 0, coalesce('tracks' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('in' || replace(new.collection_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.player_title', coalesce(new.player_title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.file_name', coalesce(new.file_name, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')) || ' ' || coalesce(new.folded ->> '$.tags', coalesce(new.tags ->> '$.title', '') || ' ' || coalesce(new.tags ->> '$.artist', '') || ' ' || coalesce(new.tags ->> '$.album', '') || ' ' || coalesce(new.tags ->> '$.album_artist', '') || ' ' || coalesce(new.tags ->> '$.composer', '') || ' ' || coalesce(new.tags ->> '$.genre', '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_search_update AFTER UPDATE OF collection_id, creator_id, player_title, player_subtitle, file_name, organization_index, tags, folded ON tracks WHEN old.collection_id IS NOT new.collection_id OR old.creator_id IS NOT new.creator_id OR old.player_title IS NOT new.player_title OR old.player_subtitle IS NOT new.player_subtitle OR old.file_name IS NOT new.file_name OR old.organization_index IS NOT new.organization_index OR old.tags IS NOT new.tags OR old.folded IS NOT new.folded BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 0, coalesce('tracks' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('in' || replace(new.collection_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.player_title', coalesce(new.player_title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.file_name', coalesce(new.file_name, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')) || ' ' || coalesce(new.folded ->> '$.tags', coalesce(new.tags ->> '$.title', '') || ' ' || coalesce(new.tags ->> '$.artist', '') || ' ' || coalesce(new.tags ->> '$.album', '') || ' ' || coalesce(new.tags ->> '$.album_artist', '') || ' ' || coalesce(new.tags ->> '$.composer', '') || ' ' || coalesce(new.tags ->> '$.genre', '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_search_delete AFTER DELETE ON tracks BEGIN DELETE FROM search WHERE rowid = old.rowid * 4 + 0; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS collections_search_insert AFTER INSERT ON collections BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 1, coalesce('collections' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.title', coalesce(new.title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS collections_search_update AFTER UPDATE OF creator_id, title, player_subtitle, organization_index, folded ON collections WHEN old.creator_id IS NOT new.creator_id OR old.title IS NOT new.title OR old.player_subtitle IS NOT new.player_subtitle OR old.organization_index IS NOT new.organization_index OR old.folded IS NOT new.folded BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 1, coalesce('collections' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.title', coalesce(new.title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS collections_search_delete AFTER DELETE ON collections BEGIN DELETE FROM search WHERE rowid = old.rowid * 4 + 1; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS playlists_search_insert AFTER INSERT ON playlists BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 2, coalesce('playlists' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.title', coalesce(new.title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS playlists_search_update AFTER UPDATE OF creator_id, title, player_subtitle, organization_index, folded ON playlists WHEN old.creator_id IS NOT new.creator_id OR old.title IS NOT new.title OR old.player_subtitle IS NOT new.player_subtitle OR old.organization_index IS NOT new.organization_index OR old.folded IS NOT new.folded BEGIN INSERT OR REPLACE INTO search (rowid, scope, text) SELECT new.rowid * 4 + 2, coalesce('playlists' || replace(new.organization_id, '-', ''), '') || ' ' || coalesce('by' || replace(new.creator_id, '-', ''), '') || ' ' || coalesce('ix' || hex(new.organization_index), ''), coalesce(new.folded ->> '$.title', coalesce(new.title, '')) || ' ' || coalesce(new.folded ->> '$.player_subtitle', coalesce(new.player_subtitle, '')) || ' ' || coalesce(new.folded ->> '$.organization_index', coalesce(new.organization_index, '')); END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS playlists_search_delete AFTER DELETE ON playlists BEGIN DELETE FROM search WHERE rowid = old.rowid * 4 + 2; END;
--> statement-breakpoint
INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT 'tracks', max(rowid) FROM tracks HAVING max(rowid) > 0;
--> statement-breakpoint
INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT 'collections', max(rowid) FROM collections HAVING max(rowid) > 0;
--> statement-breakpoint
INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT 'playlists', max(rowid) FROM playlists HAVING max(rowid) > 0;
