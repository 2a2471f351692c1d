import { randomBytes } from 'node:crypto'

import { type Client, createClient } from '../../src/client/index.ts'
import { check, expect, unwrap } from './report_check.ts'

/**
 * Sends a listening report about a track, and reads it in the statistics. `heard_token` is undefined if the service is from before listening reports. The
 * report has only a muted second, so that it is no play: the statistics of the organization keep it after the track is deleted.
 */
export async function checkListening(
  base_url: string,
  client: Client,
  track_id: string,
  heard_token: string | undefined,
): Promise<void> {
  if (!heard_token)
    return console.log('-       listening: this version of the service has no listening reports; npm run deploy')
  await check('listening', 'look at the logs: npx wrangler tail; docs/operate.md#watch', async () => {
    const visit = randomBytes(8).toString('hex')
    const listens = [{ track: track_id, ranges: [], muted: 1 }]
    const body = { visit, sequence: 1, age: 1, first: 0, source: 'doctor', listens }
    await unwrap(createClient({ base_url }).post('/v1/heard/{token}', { params: { token: heard_token }, body }))
    const params = { scope: 'track', resource_id: track_id } as const
    const { totals } = await unwrap(client.get('/v1/stats/{scope}/{resource_id}', { params }))
    const { visits, muted_seconds } = totals
    expect(visits === 1 && muted_seconds === 1, `the statistics have ${visits} visits and ${muted_seconds} muted s`)
    return ['a report was counted', true]
  })
}
