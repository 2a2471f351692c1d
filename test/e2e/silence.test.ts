import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { withoutFlacLength } from '../support/damage.ts'
import type { Stack } from '../support/stack.ts'
import { startOther } from './shared_stack.ts'
import { must, settle, TIMEOUT, upload } from './steps.ts'

/**
 * Small files that decode to long audio: silence in FLAC whose header states no length. The limits of the slots are 60 and 30 seconds here, instead of
 * an hour and ten minutes.
 */

let stack: Stack

beforeAll(async () => {
  stack = await startOther({ settings: { SLOT_SECONDS: '60,30', FAILPOINTS: 'handed_back=kill' } })
})
afterAll(() => stack?.dispose())

const silence = async (minutes: number) =>
  withoutFlacLength(await makeAudio('flac', { seconds: minutes * 60, rate: 8000, channels: 1, expression: '0' }))
const collectionOf = async (client: Client) =>
  (await must(client.post('/v1/collection', { body: { title: 'Silence' } }))).collection_id

async function anOrganization(): Promise<Client> {
  const root = createClient({ base_url: stack.base_url, api_key: stack.root_key })
  const { secret } = await must(root.post('/v1/organization', { body: { name: 'Other' } }))
  return createClient({ base_url: stack.base_url, api_key: secret })
}

test('a job whose transcoder is killed while it hands the job back is completed once', async () => {
  const client = await anOrganization()
  const collection_id = await collectionOf(client)
  const transcoder = stack.transcoder()
  const { track_id } = await upload(client, collection_id, 'silence.flac', await silence(3))
  expect(await settle(client, track_id)).toMatchObject({ status: 'ready', duration: 180 })
  expect(stack.transcoder()).not.toBe(transcoder)
  expect(stack.output()).toContain('job_handed_back')
  const { events } = await must(client.get('/v1/event', { query: { limit: 100 } }))
  expect(events.filter(({ type }) => type === 'track.ready')).toHaveLength(1)
})

test('short files of others become ready while long silence is decoded', async () => {
  const [attacker, other] = [createClient({ base_url: stack.base_url, api_key: stack.api_key }), await anOrganization()]
  const collection_id = await collectionOf(attacker)
  const [long, short] = [await silence(40), await makeAudio('mp3', { seconds: 3 })]
  const before = stack.output().length
  for (const name of ['1.flac', '2.flac', '3.flac', '4.flac']) await upload(attacker, collection_id, name, long)
  await vi.waitFor(() => expect(stack.output().slice(before)).toContain('job_handed_back'), TIMEOUT)

  const theirs = await collectionOf(other)
  for (const name of ['1.mp3', '2.mp3', '3.mp3']) {
    const { track_id } = await upload(other, theirs, name, short)
    expect(await settle(other, track_id)).toMatchObject({ status: 'ready' })
  }
  const params = { collection_id }
  const { tracks } = await must(attacker.get('/v1/collection/{collection_id}/track', { params }))
  expect(tracks.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'processing'))
  await must(attacker.delete('/v1/collection/{collection_id}', { params }))
})
