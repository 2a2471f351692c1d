import { is, SQL, sql } from 'drizzle-orm'

import type { EventType } from '../../contract/event.ts'
import { type Database, insertFrom } from './database.ts'
import { type EventScope, events, fieldsOf, nextSeq } from './schema/events.ts'

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
  type: EventType & (`${EventScope}.${string}` | 'webhook.test'),
  source: SQL,
  extraFields: Record<string, unknown> = {},
  subject?: string,
) {
  const scope = (type === 'webhook.test' ? 'webhook_endpoint' : type.split('.')[0]) as EventScope
  const columns = Object.entries(fieldsOf(scope)).map(([name, column]) => [name, sql.raw(column)])
  const fields = Object.entries({ ...(Object.fromEntries(columns) as object), ...extraFields }).map(
    ([name, value]) => sql`${name}, ${is(value, SQL) ? value : sql`json(${JSON.stringify(value)})`}`,
  )
  const event = {
    organization_id: sql`organization_id`,
    seq: sql.raw(nextSeq('row_of.organization_id', 'row_number() OVER ()')),
    type,
    subject: sql`${`${subject ?? scope}:`} || id`,
    actor,
    data: sql`data`,
  }
  const rows = sql`(select id, organization_id, json_object(${sql.join(fields, sql`, `)}) as data from ${source}) as row_of
    where exists (select 1 from organizations where organizations.id = row_of.organization_id)`
  return insertFrom(db, events, event, rows)
}
