import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import type { HeardReport } from '../../../src/contract/heard.ts'
import { listeningObject } from '../../../src/listening/call_object.ts'
import { aPlaySession, call, query } from './api.ts'
import { aTenantWithTrack } from './fixtures.ts'

/** Returns the id of a new visit. */
export const aVisit = () => crypto.randomUUID().replaceAll('-', '').slice(0, 16)

/** Returns the first report of a new visit: four seconds of a track were heard. */
export const heardReport = (track: string, report: Partial<HeardReport> = {}): HeardReport => ({
  visit: aVisit(),
  sequence: 1,
  age: 5,
  first: 0,
  listens: [{ track, ranges: [[0, 4]] }],
  ...report,
})

/** Today, in days since 1970. */
export const today = () => Math.floor(Date.now() / 86_400_000)

/** Creates a tenant with a track of 200 seconds and a session that was created an hour ago. */
export async function aListener(scope: 'collection' | 'track' = 'collection') {
  const tenant = await aTenantWithTrack()
  const { organization_id, collection_id, track_id, key } = tenant
  await query('update tracks set duration = 200 where id = ?', track_id)
  const session = await aPlaySession(key, scope, scope === 'track' ? track_id : collection_id)
  await query('update play_sessions set created_at = created_at - 3600000 where id = ?', session.play_session_id)
  const token = async () => (await call('GET', `/v1/play/${session.play_session_id}`)).body.heard_token
  const path = `/v1/heard/${await token()}`
  const object = () => env.LISTENING.getByName(organization_id)
  return {
    ...tenant,
    path,
    session,
    object,
    /** Sends a report, and returns the status of the response. */
    send: async (report: HeardReport, headers = {}) => (await call('POST', path, { body: report, headers })).status,
    /** The sums of the organization or the track, and the refused reports by reason. */
    sums: async (scope: 'organization' | 'track' = 'organization') => {
      const days = { from: today() - 1, to: today() }
      const id = scope === 'track' ? track_id : organization_id
      const { totals, refused } = await listeningObject(
        env,
        organization_id,
        0,
      )('stats', { scope, id, by: 'day', ...days })
      const [plays, visits, tenths, completions] = totals
      return { plays, visits, tenths, completions, refused }
    },
    /** Returns the rows of a table of the object. */
    rows: (table: string) =>
      runInDurableObject(object(), (_, { storage }) =>
        storage.sql.exec<Record<string, SqlStorageValue>>(`select * from ${table}`).toArray(),
      ),
    /** Stops the object. The next call starts it again, from its log. */
    stop: () => evictDurableObject(object()),
    alarm: () => runDurableObjectAlarm(object()),
  }
}

/** The ranges of a listen, as a test writes them. */
export type Ranges = [number, number][]

/** The sums of an organization without listens. */
export const NOTHING = { plays: 0, visits: 0, tenths: 0, completions: 0, refused: {} }

/** Returns a function that returns the next report of a visit with one listen. */
export function aListen(track: string, visit = aVisit()) {
  let sequence = 0
  return (ranges: Ranges, more: Partial<HeardReport> = {}, again?: Ranges) =>
    heardReport(track, {
      visit,
      sequence: ++sequence,
      age: 300,
      listens: [{ track, ranges, ...(again && { again }) }],
      ...more,
    })
}
