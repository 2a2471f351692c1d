-- What happened, see src/adapters/event_schema.ts. Written by hand: drizzle-kit knows no WITHOUT ROWID and no triggers.
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS events (
	organization_id text NOT NULL,
	seq integer NOT NULL,
	id text NOT NULL,
	type text NOT NULL,
	subject text NOT NULL,
	sequence integer GENERATED ALWAYS AS (seq) VIRTUAL NOT NULL,
	actor text,
	data text NOT NULL,
	created_at integer NOT NULL,
	PRIMARY KEY (organization_id, seq)
) WITHOUT ROWID;
