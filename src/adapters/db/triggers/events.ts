import type { EventType } from '../../../contract/event.ts'
import { fieldsOf, nextSeq } from '../schema/events.ts'

/**
 * The events of changes that the service makes itself (docs/decisions/0056), written by triggers on the rows that it changes. Requests write their
 * events with `recordEvents`; they do not change the columns below in the way that a condition describes.
 */

interface Event {
  type: EventType
  /** SQL that is true for the updates that have this event. `old` is the row before the update, `new` the row after it. */
  when: string
  /** The fields of the event's data, in SQL. */
  data: Record<string, string>
}

const track = fieldsOf('track', 'new.')
const errorCode = `new.info ->> '$.error.code'`
const firstFile = (row: string) => `${row}.files ->> '$.list[0][0]'`

/** If an update has several events, they are written in this order. */
const TRACK_EVENTS: Event[] = [
  {
    // An uploaded file was accepted: a new job processes it.
    type: 'track.uploaded',
    when: 'old.awaiting_upload AND NOT new.awaiting_upload AND new.job_id IS NOT old.job_id',
    data: { ...track, size: 'new.source_size' },
  },
  {
    // The first variant can be played while the job still runs. `base` is the folder of a job's files.
    type: 'track.playable',
    when: `new.files ->> '$.is_early' = 1 AND
      (new.files ->> '$.base' IS NOT old.files ->> '$.base' OR ${firstFile('new')} IS NOT ${firstFile('old')})`,
    data: {
      ...track,
      duration: 'new.duration',
      // The name of the file without its extension.
      variant: `substr(${firstFile('new')}, 1, instr((${firstFile('new')}) || '.', '.') - 1)`,
    },
  },
  ...coverEvents('track'),
  {
    type: 'track.ready',
    when: `new.status = 'ready' AND old.status <> 'ready'`,
    data: { ...track, duration: 'new.duration' },
  },
  {
    // Some variants could not be generated.
    type: 'track.incomplete',
    when: `new.status = 'incomplete' AND old.status <> 'incomplete'`,
    data: {
      ...track,
      duration: 'new.duration',
      error: errorCode,
      failed_variants: `(SELECT json_group_array(value ->> '$.index') FROM json_each(new.info, '$.failed_variants'))`,
    },
  },
  {
    // Either the job failed, or an uploaded file was rejected without a job while the track keeps its previous file.
    type: 'track.failed',
    when: `new.status = 'failed' AND old.status <> 'failed' OR
      ${errorCode} IS NOT NULL AND old.awaiting_upload AND NOT new.awaiting_upload AND
      new.upload_path = old.upload_path AND new.job_id IS old.job_id`,
    data: { ...track, error: errorCode },
  },
]

/** The events of a cover's job. The columns are the same in tracks, collections and playlists. */
function coverEvents(scope: 'track' | 'collection' | 'playlist'): Event[] {
  const cover = { scope: `'${scope}'`, resource_id: 'new.id', organization_index: 'new.organization_index' }
  return [
    {
      type: 'cover.ready',
      when: 'new.cover_path IS NOT NULL AND new.cover_path IS NOT old.cover_path',
      data: cover,
    },
    {
      type: 'cover.failed',
      when: 'new.cover_job_id IS NULL AND old.cover_job_id IS NOT NULL',
      data: { ...cover, error: `(SELECT error ->> '$.code' FROM jobs WHERE id = old.cover_job_id)` },
    },
  ]
}

const REPROCESS_EVENTS: Event[] = [
  {
    type: 'collection.reprocess.finished',
    when: `new.state = 'done' AND old.state = 'running'`,
    data: { collection_id: 'new.collection_id', total: 'new.total', done: 'new.done', failed: 'new.failed' },
  },
]

/**
 * Returns the trigger that writes the events of updates of a table. `columns` are those that the conditions compare with their old values. The
 * events are rows of VALUES, because D1 limits the number of terms of a UNION; those without data are left out.
 */
function eventsTrigger(table: string, columns: string[], subject: string, events: Event[]): string {
  const rows = events.map(({ type, when, data }, at) => {
    const fields = Object.entries(data).map(([name, value]) => `'${name}', ${value}`)
    return `(${at + 1}, '${type}', iif(${when}, json_object(${fields.join(', ')}), NULL))`
  })
  return `CREATE TRIGGER ${table}_events AFTER UPDATE OF ${columns.join(', ')} ON ${table}
    WHEN ${columns.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')}
    BEGIN
      INSERT INTO events (organization_id, seq, type, subject, data)
      SELECT new.organization_id, ${nextSeq('new.organization_id', 'row_number() OVER (ORDER BY column1)')}, column2, ${subject}, column3
      FROM (VALUES ${rows.join(', ')}) WHERE column3 IS NOT NULL;
    END;`
}

const COVER = ['cover_path', 'cover_job_id']

export const EVENT_TRIGGERS = [
  eventsTrigger('tracks', ['status', 'awaiting_upload', 'files', ...COVER], `'track:' || new.id`, TRACK_EVENTS),
  eventsTrigger('collections', COVER, `'collection:' || new.id`, coverEvents('collection')),
  eventsTrigger('playlists', COVER, `'playlist:' || new.id`, coverEvents('playlist')),
  eventsTrigger('reprocesses', ['state'], `'collection:' || new.collection_id`, REPROCESS_EVENTS),
]
