/**
 * The triggers that count usage by day (`usage_days`, docs/decisions/0055). Tracks are counted as they change, unless a backup is being restored:
 * their organization does not exist then. Sessions are counted when a cursor moves: all rows between its two positions, in the same transaction, so
 * none is counted twice and none is left out.
 */

/** Whether a row's files are those of a finished job. */
const isFinal = (row: string) =>
  `(${row}.files ->> '$.list[0][0]' IS NOT NULL AND ${row}.files ->> '$.is_early' IS NULL)`

/** Selects a row with the variant and the size in bytes of each final file of a track; an entry of `list` starts with its name and its size. */
const filesOf = (row: string, sign = '') =>
  `SELECT substr(value ->> 0, 1, instr((value ->> 0) || '.', '.') - 1) AS name, ${sign}(value ->> 1) AS bytes, ${sign}1 AS files
    FROM json_each(${row}.files, '$.list') WHERE ${isFinal(row)}`

/** The entries of a column `files`, which is {variant: [bytes, files]}. */
const entriesOf = (files: string) =>
  `SELECT key AS name, value ->> 0 AS bytes, value ->> 1 AS files FROM json_each(${files})`

/** Sums up rows of variants as {variant: [bytes, files]}, without variants that have become 0. */
const sumOf = (rows: string) =>
  `(SELECT json_group_object(name, json_array(bytes, files)) FROM (
      SELECT name, sum(bytes) AS bytes, sum(files) AS files FROM (${rows})
      GROUP BY name HAVING sum(bytes) <> 0 OR sum(files) <> 0))`

/** Adds the values of an insert to the row of the same day. */
const ADDED = `ON CONFLICT (organization_id, date) DO UPDATE SET
    milliseconds = milliseconds + excluded.milliseconds,
    uploads = uploads + excluded.uploads,
    upload_bytes = upload_bytes + excluded.upload_bytes,
    files = ${sumOf(`${entriesOf('usage_days.files')} UNION ALL ${entriesOf('excluded.files')}`)}`

interface Usage {
  milliseconds: string
  uploads?: string
  upload_bytes?: string
  /** A query for the rows of `sumOf`. */
  files: string
}

/** Adds the change of a track to the current day. */
const addToday = (row: string, { milliseconds, uploads = '0', upload_bytes = '0', files }: Usage) => `
  INSERT INTO usage_days (organization_id, date, milliseconds, uploads, upload_bytes, files)
  SELECT ${row}.organization_id, date('now'), ${milliseconds}, ${uploads}, ${upload_bytes}, ${sumOf(files)} WHERE true
  ${ADDED};`

const isCounted = (row: string) => `EXISTS (SELECT 1 FROM organizations WHERE id = ${row}.organization_id)`
const lengthOf = (row: string) => `CAST(round(${row}.duration * 1000) AS INTEGER)`

/** Selects from the original file of a track, if the update stored a new one. */
const newOriginal = (value: string) =>
  `(SELECT ${value} FROM json_each(new.files, '$.list')
    WHERE ${isFinal('new')} AND value ->> 0 = 'original' AND new.files ->> '$.source' IS NOT old.files ->> '$.source')`

export const USAGE_TRIGGERS = [
  `CREATE TRIGGER tracks_usage_insert AFTER INSERT ON tracks
  WHEN ${isFinal('new')} AND ${isCounted('new')}
  BEGIN ${addToday('new', { milliseconds: lengthOf('new'), files: filesOf('new') })} END;`,

  `CREATE TRIGGER tracks_usage_delete AFTER DELETE ON tracks
  WHEN ${isFinal('old')} AND ${isCounted('old')}
  BEGIN ${addToday('old', { milliseconds: `-${lengthOf('old')}`, files: filesOf('old', '-') })} END;`,

  `CREATE TRIGGER tracks_usage_update AFTER UPDATE OF files, duration ON tracks
  WHEN (old.files IS NOT new.files OR old.duration IS NOT new.duration) AND (${isFinal('old')} OR ${isFinal('new')})
    AND ${isCounted('new')}
  BEGIN ${addToday('new', {
    // A track without final files has no length.
    milliseconds: `${lengthOf('new')} * (${isFinal('new')}) - ${lengthOf('old')} * (${isFinal('old')})`,
    uploads: newOriginal('count(*)'),
    upload_bytes: newOriginal('coalesce(sum(value ->> 1), 0)'),
    files: `${filesOf('new')} UNION ALL ${filesOf('old', '-')}`,
  })} END;`,

  `CREATE TRIGGER usage_sessions AFTER UPDATE OF at ON usage_cursors
  WHEN new.name = 'sessions'
  BEGIN
    INSERT INTO usage_days (organization_id, date, sessions)
    SELECT organization_id, date(created_at / 1000, 'unixepoch'), count(*) FROM play_sessions
    WHERE id >= old.at AND id < new.at
    GROUP BY 1, 2 HAVING EXISTS (SELECT 1 FROM organizations WHERE id = organization_id)
    ON CONFLICT (organization_id, date) DO UPDATE SET sessions = sessions + excluded.sessions;
  END;`,

  // Merges the days before the cursor into the row with an empty date. Only the current usage is reported of them: no uploads and sessions.
  `CREATE TRIGGER usage_old AFTER UPDATE OF at ON usage_cursors
  WHEN new.name = 'days'
  BEGIN
    INSERT INTO usage_days (organization_id, date, milliseconds, uploads, upload_bytes, files)
    SELECT organization_id, '', sum(milliseconds), 0, 0, (
      SELECT json_group_object(name, json_array(bytes, files)) FROM (
        SELECT key AS name, sum(value ->> 0) AS bytes, sum(value ->> 1) AS files
        FROM usage_days, json_each(usage_days.files)
        WHERE organization_id = days.organization_id AND date > '' AND date < new.at GROUP BY key))
    FROM usage_days AS days WHERE date > '' AND date < new.at GROUP BY organization_id
    ${ADDED};
    DELETE FROM usage_days WHERE date > '' AND date < new.at;
  END;`,
]
