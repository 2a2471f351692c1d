-- Indexes by expression, for sorted lists (src/resources/list/row_source.ts). drizzle-kit splits an expression at its commas, so they are not in the
-- TypeScript of the tables.
CREATE INDEX tracks_title ON tracks (organization_id, coalesce(player_title, tags ->> '$.title', file_name) COLLATE NOCASE);
CREATE INDEX tracks_updated ON tracks (organization_id, coalesce(updated_at, created_at));
CREATE INDEX collections_title ON collections (organization_id, title COLLATE NOCASE);
CREATE INDEX collections_updated ON collections (organization_id, coalesce(updated_at, created_at));
CREATE INDEX playlists_title ON playlists (organization_id, title COLLATE NOCASE);
CREATE INDEX playlists_updated ON playlists (organization_id, coalesce(updated_at, created_at));
