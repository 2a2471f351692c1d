-- Webhook endpoints, and deliveries that a trigger writes for each event that one listens to, see src/adapters/webhook_schema.ts.
-- Written by hand: drizzle-kit knows no WITHOUT ROWID and no triggers.
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS webhook_endpoints (
	id text PRIMARY KEY NOT NULL,
	organization_id text NOT NULL,
	url text NOT NULL,
	title text NOT NULL,
	events text NOT NULL,
	is_ordered integer NOT NULL,
	state text NOT NULL,
	reason text,
	secret text NOT NULL,
	previous_secret text,
	previous_secret_expires_at integer,
	failing_since integer,
	failures integer DEFAULT 0 NOT NULL,
	last_success_at integer,
	swept_until integer NOT NULL,
	seq integer NOT NULL,
	created_at integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS webhook_endpoints_list ON webhook_endpoints (organization_id, seq);
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS webhook_endpoints_swept ON webhook_endpoints (swept_until);
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS webhook_deliveries (
	endpoint_id text NOT NULL,
	seq integer NOT NULL,
	state text DEFAULT 'pending' NOT NULL,
	attempt integer DEFAULT 0 NOT NULL,
	due_at integer,
	subject text,
	attempts text DEFAULT '[]' NOT NULL,
	PRIMARY KEY (endpoint_id, seq)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS webhook_deliveries_held ON webhook_deliveries (endpoint_id, seq) WHERE due_at IS NULL AND state = 'pending';
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS webhook_deliveries_subject ON webhook_deliveries (endpoint_id, subject, seq) WHERE subject IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER IF NOT EXISTS events_webhooks AFTER INSERT ON events WHEN new.type <> 'webhook.test' BEGIN INSERT INTO webhook_deliveries (endpoint_id, seq, due_at, subject) SELECT id, new.seq, iif(is_ordered AND EXISTS (SELECT 1 FROM webhook_deliveries AS earlier WHERE earlier.endpoint_id = webhook_endpoints.id AND earlier.subject = new.subject), NULL, 0), iif(is_ordered, new.subject, NULL) FROM webhook_endpoints WHERE organization_id = new.organization_id AND state = 'active' AND new.subject <> 'webhook_endpoint:' || id AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN ('*', new.type) OR (value LIKE '%.*' AND substr(new.type, 1, length(value) - 1) = substr(value, 1, length(value) - 1))); END;
