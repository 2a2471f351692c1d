-- The bytes that tracks take of quotas besides stored files (docs/decisions/0078). Requests reserve them, and these triggers free them.

-- A row that counts nothing anymore is deleted.
CREATE TRIGGER reservations_ended AFTER UPDATE ON reservations
WHEN new.upload_session_id IS NULL AND new.reserved = 0 AND new.unprocessed = 0 AND new.trashed = 0
BEGIN
  DELETE FROM reservations WHERE organization_id = new.organization_id AND track_id = new.track_id;
END;

-- The file that arrived last has been processed, so usage_days counts it.
CREATE TRIGGER tracks_reservation_processed AFTER UPDATE OF files ON tracks
WHEN old.files IS NOT new.files
  AND new.files ->> '$.is_early' IS NULL
  AND new.files ->> '$.source' IS new.source_suffix
BEGIN
  UPDATE reservations SET unprocessed = 0 WHERE organization_id = new.organization_id AND track_id = new.id;
END;

-- An upload handle was abandoned or rejected, or has expired and is not checked anymore: next_check_at is the largest safe integer then.
CREATE TRIGGER tracks_reservation_handle AFTER UPDATE OF upload_expires_at, next_check_at ON tracks
WHEN new.upload_expires_at < old.upload_expires_at OR new.next_check_at = 9007199254740991
BEGIN
  UPDATE reservations SET
    expires_at = min(expires_at, new.upload_expires_at),
    reserved = iif(new.awaiting_upload AND new.next_check_at < 9007199254740991, reserved, 0)
  WHERE organization_id = new.organization_id AND track_id = new.id;
END;

CREATE TRIGGER tracks_reservation_delete AFTER DELETE ON tracks
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE id = old.id)
BEGIN
  DELETE FROM reservations WHERE organization_id = old.organization_id AND track_id = old.id;
END;

-- A track in the trash counts with the size of its files, except for early ones. No organization exists while a backup is restored.
CREATE TRIGGER trash_reservation_insert AFTER INSERT ON trash
WHEN new.scope = 'track'
  AND (new.content ->> '$.files') ->> '$.is_early' IS NULL
  AND EXISTS (SELECT 1 FROM organizations WHERE id = new.organization_id)
BEGIN
  INSERT INTO reservations (organization_id, track_id, day, reserved, expires_at, trashed)
  SELECT new.organization_id, new.id, 0, 0, 0, sum(value ->> 1)
  FROM json_each(new.content ->> '$.files', '$.list')
  WHERE true
  HAVING sum(value ->> 1) > 0
  ON CONFLICT (organization_id, track_id) DO UPDATE SET trashed = excluded.trashed;
END;

-- The track was restored, or deleted permanently.
CREATE TRIGGER trash_reservation_delete AFTER DELETE ON trash
WHEN old.scope = 'track'
BEGIN
  DELETE FROM reservations
  WHERE organization_id = old.organization_id AND track_id = old.id AND NOT EXISTS (SELECT 1 FROM tracks WHERE id = old.id);
  UPDATE reservations SET trashed = 0 WHERE organization_id = old.organization_id AND track_id = old.id;
END;
