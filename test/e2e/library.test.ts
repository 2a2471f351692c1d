import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { copyTrack, type Song } from './library.ts'
import { anOrganization, joinStack, type Shared } from './shared_stack.ts'
import { must, play, settle, TIMEOUT, upload } from './steps.ts'

/** The copies of processed tracks that many tests use are like tracks that the pipeline has processed. */

const TAGGED: Song = ['mp3', { seconds: 3, channels: 1 }, ['-metadata', 'title=Evening', '-metadata', 'artist=Ágnes']]

let stack: Shared
beforeAll(async () => {
  stack = await joinStack()
})
afterAll(() => stack?.dispose())

/** Creates an organization with a collection. Its title is in the tags of the files. */
async function aPlace() {
  const place = { ...stack, ...(await anOrganization(stack)) }
  const client = createClient({ base_url: place.base_url, api_key: place.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Songs' } }))
  return { place, client, collection_id }
}

/** Returns what the API says about the only track of an organization, without ids and times. */
async function known(client: Client, collection_id: string, track_id: string): Promise<unknown> {
  const ofTrack = { params: { track_id } }
  const ready = { params: { collection_id }, query: { status: ['ready' as const] } }
  const { view } = await play(client, client, track_id)
  const files = await Promise.all(
    view.variants.map(async ({ url }) => (await fetch(url)).headers.get('content-length')),
  )
  const answers = [
    await must(client.get('/v1/track/{track_id}', ofTrack)),
    await must(client.get('/v1/collection/{collection_id}/track', ready)),
    await must(client.get('/v1/track', { query: { q: 'agnes evening' } })),
    await must(client.get('/v1/event')),
    await must(client.get('/v1/usage')),
  ]
  const text = JSON.stringify([{ ...view, heard_token: '' }, files, ...answers])
  const [uuid, time] = [/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, /\b\d{13}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g]
  const [folder, signature] = [/\/[\da-f]{8}\//g, /X-Amz-[^&"]+/g]
  const plain = text.replaceAll(uuid, 'id').replaceAll(time, '0').replaceAll(folder, '/').replaceAll(signature, '')
  return JSON.parse(plain.replaceAll(view.track.index, 'index'))
}

test('a copied track has the same files, counts, events and search results as a processed one', async () => {
  const [one, other] = [await aPlace(), await aPlace()]
  const { track_id } = await upload(one.client, one.collection_id, 'Évening.mp3', await makeAudio(...TAGGED))
  await settle(one.client, track_id)
  const copy = await copyTrack(other.place, other.collection_id, 'Évening.mp3', TAGGED)
  const expected = await known(one.client, one.collection_id, track_id)
  expect(await known(other.client, other.collection_id, copy.track_id)).toEqual(expected)
})

test('a copied track is deleted with its files, and other copies keep theirs', async () => {
  const { place, client, collection_id } = await aPlace()
  const copies = [
    await copyTrack(place, collection_id, 'a.mp3', TAGGED),
    await copyTrack(place, collection_id, 'b.mp3', TAGGED),
  ]
  const [gone, kept] = await Promise.all(copies.map(({ track_id }) => play(client, client, track_id)))
  const statuses = ({ view }: typeof gone & object) =>
    Promise.all(view.variants.map(async ({ url }) => (await fetch(url)).status))
  const all = (status: number) => kept!.view.variants.map(() => status)
  expect([await statuses(gone!), await statuses(kept!)]).toEqual([all(200), all(200)])
  await must(client.delete('/v1/track/{track_id}', { params: { track_id: copies[0]!.track_id } }))
  await vi.waitFor(async () => expect(await statuses(gone!)).toEqual(all(404)), { ...TIMEOUT, interval: 200 })
  expect(await statuses(kept!)).toEqual(all(200))
  const { count, tracks } = await must(client.get('/v1/track'))
  expect([count, tracks.map(({ file_name }) => file_name)]).toEqual([1, ['b.mp3']])
  expect((await must(client.get('/v1/usage'))).usage).toMatchObject({ tracks: 1, duration: 3 })
})
