import { is, SQL, sql } from 'drizzle-orm'

import type { EventType } from '../../contract/event.ts'
import { type Database, insertFrom } from './database.ts'
import { events } from './schema/events.ts'

/** The columns of a row that its events include. */
const EVENT_COLUMNS = {
  track: ['track_id', 'collection_id', 'organization_index', 'status'],
  collection: ['collection_id', 'organization_index'],
  playlist: ['playlist_id', 'organization_index', 'version'],
  api_key: ['api_key_id', 'type'],
  share: ['share_id', 'scope', 'resource_id'],
  webhook_endpoint: ['webhook_endpoint_id'],
  quota: [],
  stats: [],
}
type Scope = keyof typeof EVENT_COLUMNS

/** The database, and the actor of the change; both a `System` and a `Context` are recorders. */
export interface Recorder {
  db: Database
  actor: string | null
}

/**
 * Returns a statement that writes an event for each row of a source (`tracks where …`). It belongs in the batch that changes these rows. It must come
 * before the statement of the change and have the same condition, so that each change has an event. If the change creates the rows, the event's
 * statement comes after it. `extraFields` adds fields or replaces columns; its values can be SQL. `subject` is the kind of resource that the rows are.
 */
export function recordEvents(
  { db, actor }: Recorder,
  type: EventType & (`${Scope}.${string}` | 'webhook.test'),
  source: SQL,
  extraFields: Record<string, unknown> = {},
  subject?: string,
) {
  const scope = (type === 'webhook.test' ? 'webhook_endpoint' : type.split('.')[0]) as Scope
  const columns = EVENT_COLUMNS[scope].map((name) => [name, sql.raw(name === `${scope}_id` ? 'id' : name)])
  const fields = Object.entries({ ...(Object.fromEntries(columns) as object), ...extraFields }).map(
    ([name, value]) => sql`${name}, ${is(value, SQL) ? value : sql`json(${JSON.stringify(value)})`}`,
  )
  const lastSeq = sql`coalesce((select max(seq) from events where events.organization_id = row_of.organization_id), 0)`
  const event = {
    organization_id: sql`organization_id`,
    // The same expression as in drizzle/0001_triggers.sql.
    seq: sql`max(${lastSeq} + 1, cast(unixepoch('subsec') * 1000 as integer)) + row_number() over () - 1`,
    type,
    subject: sql`${`${subject ?? scope}:`} || id`,
    actor,
    data: sql`data`,
  }
  const rows = sql`(select id, organization_id, json_object(${sql.join(fields, sql`, `)}) as data from ${source}) as row_of
    where exists (select 1 from organizations where organizations.id = row_of.organization_id)`
  return insertFrom(db, events, event, rows)
}
