-- Deletes the search index, because D1 exports no database that has one. The sweep rebuilds it ten minutes later (docs/operate.md#backup).
-- Written by npm run migration.
INSERT OR REPLACE INTO search_fills (kind, cursor) VALUES ('table', (unixepoch() + 600) * 1000);
DROP TRIGGER IF EXISTS playlists_search_delete;
DROP TRIGGER IF EXISTS playlists_search_update;
DROP TRIGGER IF EXISTS playlists_search_insert;
DROP TRIGGER IF EXISTS collections_search_delete;
DROP TRIGGER IF EXISTS collections_search_update;
DROP TRIGGER IF EXISTS collections_search_insert;
DROP TRIGGER IF EXISTS tracks_search_delete;
DROP TRIGGER IF EXISTS tracks_search_update;
DROP TRIGGER IF EXISTS tracks_search_insert;
DROP TABLE IF EXISTS search;
DROP TRIGGER IF EXISTS playlists_search_title_delete;
DROP TRIGGER IF EXISTS playlists_search_title_update;
DROP TRIGGER IF EXISTS playlists_search_title_insert;
DROP TRIGGER IF EXISTS collections_search_title_delete;
DROP TRIGGER IF EXISTS collections_search_title_update;
DROP TRIGGER IF EXISTS collections_search_title_insert;
DROP TRIGGER IF EXISTS tracks_search_title_delete;
DROP TRIGGER IF EXISTS tracks_search_title_update;
DROP TRIGGER IF EXISTS tracks_search_title_insert;
DROP TABLE IF EXISTS search_titles;
