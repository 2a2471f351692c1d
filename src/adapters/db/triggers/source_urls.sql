-- A source_url is a secret, so it is deleted as soon as the file has arrived or the track has failed (docs/decisions/0127).
CREATE TRIGGER tracks_source_url_update AFTER UPDATE OF status ON tracks
WHEN old.status = 'initializing' AND new.status <> 'initializing'
BEGIN
  DELETE FROM source_urls WHERE track_id = new.id;
END;

CREATE TRIGGER tracks_source_url_delete AFTER DELETE ON tracks
BEGIN
  DELETE FROM source_urls WHERE track_id = old.id;
END;
