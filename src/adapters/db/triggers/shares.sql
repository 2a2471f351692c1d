-- A slug that a share had is never given to another share, so an old link cannot lead to something else.
CREATE TRIGGER shares_slug_delete AFTER DELETE ON shares
BEGIN
  INSERT INTO retired_slugs (slug, share_id) VALUES (old.slug, old.id) ON CONFLICT (slug) DO NOTHING;
END;

CREATE TRIGGER shares_slug_update AFTER UPDATE OF slug ON shares
WHEN old.slug <> new.slug
BEGIN
  INSERT INTO retired_slugs (slug, share_id) VALUES (old.slug, old.id) ON CONFLICT (slug) DO NOTHING;
END;

-- A share is deleted with its resource, but kept while the resource is in the trash.
CREATE TRIGGER collections_shares AFTER DELETE ON collections
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id)
BEGIN
  DELETE FROM shares WHERE resource_id = old.id;
END;

CREATE TRIGGER tracks_shares AFTER DELETE ON tracks
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id)
BEGIN
  DELETE FROM shares WHERE resource_id = old.id;
END;

CREATE TRIGGER playlists_shares AFTER DELETE ON playlists
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id)
BEGIN
  DELETE FROM shares WHERE resource_id = old.id;
END;

-- A row leaves the trash when its resource is restored or deleted. After a restore, the resource exists again.
CREATE TRIGGER trash_shares AFTER DELETE ON trash
WHEN NOT EXISTS (SELECT 1 FROM collections WHERE id = old.id)
  AND NOT EXISTS (SELECT 1 FROM tracks WHERE id = old.id)
  AND NOT EXISTS (SELECT 1 FROM playlists WHERE id = old.id)
BEGIN
  DELETE FROM shares WHERE resource_id = old.id;
END;

-- Play sessions of shares by day (docs/decisions/0090). Moving the cursor counts the sessions of all shares that it passes, once. It keeps the days
-- since eight days before the newest session.
CREATE TRIGGER usage_shares AFTER UPDATE OF at ON usage_cursors
WHEN new.name = 'sessions'
BEGIN
  UPDATE shares SET session_days = (
    SELECT json_group_object(date, count) FROM (
      SELECT date, sum(count) AS count FROM (
        SELECT key AS date, value AS count FROM json_each(coalesce(shares.session_days, '{}'))
        WHERE key > date(counted.newest, '-8 days')
        UNION ALL
        SELECT key, value FROM json_each(counted.days)
      )
      GROUP BY date
    )
  )
  FROM (
    SELECT share_id, max(date) AS newest, json_group_object(date, count) AS days FROM (
      SELECT share_id, date(created_at / 1000, 'unixepoch') AS date, count(*) AS count FROM play_sessions
      WHERE id >= old.at AND id < new.at AND share_id IS NOT NULL
      GROUP BY 1, 2
    )
    GROUP BY share_id
  ) AS counted
  WHERE shares.id = counted.share_id;
END;
