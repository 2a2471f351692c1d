-- Written by npm run migration from src/adapters/db (docs/development/migrations.md).
CREATE TRIGGER IF NOT EXISTS tracks_source_url_update AFTER UPDATE OF status ON tracks WHEN old.status = 'initializing' AND new.status <> 'initializing' BEGIN DELETE FROM source_urls WHERE track_id = new.id; END;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS tracks_source_url_delete AFTER DELETE ON tracks BEGIN DELETE FROM source_urls WHERE track_id = old.id; END;
