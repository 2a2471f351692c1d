import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { eventsBefore } from '../../../src/studio/data/events.ts'
import { anOrganization, HOUR, ok } from '../support/api.ts'

/** How the studio reads the event feed backward from its end. */

it('the studio finds out that there are no earlier events when it has read the oldest event', async () => {
  const { id, key } = await anOrganization()
  const revoked = JSON.stringify({ api_key_id: id, type: 'player' })
  await env.DB.prepare(
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 40)
      insert into events (organization_id, seq, id, type, subject, data, created_at)
      select ?1, ?2 - n, printf('%08x-0000-4000-8000-000000000000', n), 'api_key.revoked', 'api_key:' || ?1, ?3, ?2 - n from numbers`,
  )
    .bind(id, Date.now() - HOUR / 2, revoked)
    .run()
  const read = ({ after, limit }: { after: number; limit: number }) =>
    ok('GET', `/v1/event?after=${after}&limit=${limit}&type=api_key.revoked`, { key })
  const { entries, next } = await eventsBefore<never>(read, undefined)
  expect([entries.length, next]).toEqual([40, null])
})

it('the studio reads each event exactly once, newest first, even if events are close together or their numbers are ahead of the clock', async () => {
  const { id, key } = await anOrganization()
  const now = Date.now()
  const range = (count: number, at: (index: number) => number) => Array.from({ length: count }, (_, index) => at(index))
  const seqs = [
    // Events that are spread evenly over weeks, many events within a second some days ago, and enough recent events that their numbers are ahead of
    // the clock.
    ...range(120, (index) => now - 25 * 24 * HOUR + index * 4 * HOUR),
    ...range(900, (index) => now - 90 * HOUR + 17 + index),
    ...range(700, (index) => now + 1000 + index),
  ].toSorted((a, b) => a - b)
  const other = '00000000-0000-4000-8000-000000000001'
  const revoked = JSON.stringify({ api_key_id: other, type: 'player' })
  const deleted = JSON.stringify({ playlist_id: other, organization_index: null, version: 1, is_trashed: false })
  await env.DB.prepare(
    `insert into events (organization_id, seq, id, type, subject, data, created_at)
      select ?1, value, printf('%08x-0000-4000-8000-000000000000', key), iif(key % 50, 'api_key.revoked', 'playlist.deleted'),
        'api_key:${other}', iif(key % 50, ?3, ?4), value from json_each(?2)`,
  )
    .bind(id, JSON.stringify(seqs), revoked, deleted)
    .run()
  let requests = 0
  async function walk(filter: string) {
    const read = ({ after, limit }: { after: number; limit: number }) => {
      requests++
      return ok('GET', `/v1/event?after=${after}&limit=${limit}${filter}`, { key })
    }
    const found: number[] = []
    let looks = 0
    for (let from: number | null | undefined; from !== null; looks++) {
      const page = await eventsBefore<never>(read, from)
      if (looks === 0) expect(page.entries.length).toBeGreaterThan(0)
      found.push(...page.entries.map(({ seq }) => seq))
      from = page.next
    }
    return found
  }
  const newestFirst = seqs.toReversed()
  // The feed also contains the event of the organization's own key.
  expect((await walk('')).filter((seq) => seqs.includes(seq))).toEqual(newestFirst)
  expect(await walk('&type=playlist.*')).toEqual(newestFirst.filter((seq) => seqs.indexOf(seq) % 50 === 0))
  expect(requests).toBeLessThan(150)
})
