-- The share of each play session (src/adapters/db/schema/play_sessions.ts).
ALTER TABLE play_sessions ADD share_id text;
