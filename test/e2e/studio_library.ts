import { createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { copyTrack } from './library.ts'
import { Listeners } from './listeners.ts'
import type { Shared } from './shared_stack.ts'
import { bytes, must, send, settle, upload } from './steps.ts'

/** A route of the studio, and the heading of its page. */
export type StudioPage = readonly [route: string, heading: string]

/** Fills an organization with content of every kind: long names, a failure, a file that never arrived, and an empty collection. */
export async function fillOrganization(stack: Shared) {
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const title = 'A collection whose title is longer than a phone is wide'
  const song = 'A song with a name-that-goes-on-and-on-without-a-space'
  await must(client.post('/v1/variant', { body: { name: 'Radio', codec: 'mp3', bitrate: 64, channels: 1 } }))
  const made = await must(client.post('/v1/collection', { body: { title } }))
  const { collection_id } = made
  await send(made.collection_cover_upload, bytes(await makeImage('png')))
  // Not a copy, because it has a file of the variant.
  const audio = await makeAudio('mp3', { seconds: 6, channels: 1 })
  const { track_id } = await upload(client, collection_id, `${song}.mp3`, audio)
  // The file is not plain text, which would be rejected on arrival: only the transcoder detects that it is not audio.
  const diary = Buffer.from('Dear diary\0'.repeat(200))
  const { track_id: failed } = await upload(client, collection_id, 'diary.mp3', diary)
  await must(client.post('/v1/track', { body: { collection_id, file_name: 'on-its-way.wav' } }))
  const empty = (await must(client.post('/v1/collection', { body: { title: 'Empty' } }))).collection_id
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'Mix' } }))
  const body = { track_ids: [track_id, track_id] }
  await must(client.post('/v1/playlist/{playlist_id}/track', { params: { playlist_id }, body }))
  const gone = (
    await must(client.post('/v1/playlist', { body: { title: 'A playlist that was deleted not long ago' } }))
  ).playlist_id
  await must(client.delete('/v1/playlist/{playlist_id}', { params: { playlist_id: gone }, query: { trash: 'true' } }))
  const ends = { expires_at: new Date(Date.now() + 3 * 24 * 3600_000).toISOString(), password: 'last stop' }
  await must(client.post('/v1/share', { body: { scope: 'track', id: track_id, ...ends } }))
  const key = { title: 'Web', type: 'player' as const, collection_id, allowed_origins: ['https://www.example.com'] }
  await must(client.post('/v1/api_key', { body: key }))
  await must(client.post('/v1/api_key', { body: { title: 'Inbox', type: 'uploader' as const, collection_id } }))
  // Nothing listens on this port.
  const hook = {
    url: 'http://127.0.0.1:9/a-path-that-is-longer-than-a-phone-is-wide',
    title: 'Shop',
    events: ['track.*' as const],
  }
  const { webhook_endpoint_id } = await must(client.post('/v1/webhook_endpoint', { body: hook }))
  const params = { webhook_endpoint_id }
  const tested = await must(client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/test', { params }))
  await settle(client, track_id)
  await settle(client, failed)
  const listeners = await Listeners.join(client, stack.base_url, collection_id, track_id)
  for (let visits = 0; visits < 12; visits++) await listeners.hear(visits % 2 ? 1 : 6)
  // Twelve seconds cannot be heard in none.
  await listeners.hear(6, { again: [[0, 6]] }, 0, 400)
  return {
    overview: ['#/', 'Overview'],
    library: ['#/library', 'Library'],
    collection: [`#/collection/${collection_id}`, title],
    empty: [`#/collection/${empty}`, 'Empty'],
    track: [`#/track/${track_id}`, song],
    'track look': [`#/track/${track_id}/look`, song],
    failed: [`#/track/${failed}`, 'diary'],
    'library list': ['#/library?view=list&sort=title', 'Library'],
    playlists: ['#/playlists', 'Playlists'],
    search: ['#/search?q=a', 'Search'],
    playlist: [`#/playlist/${playlist_id}`, 'Mix'],
    'playlist search': [`#/playlist/${playlist_id}/add`, 'Mix'],
    'playlist look': [`#/playlist/${playlist_id}/look`, 'Mix'],
    shares: ['#/shares', 'Shares'],
    listening: ['#/listening', 'Listening'],
    'listening of a track': [`#/listening?scope=track&id=${track_id}&days=365`, 'Listening'],
    keys: ['#/keys', 'Keys'],
    variants: ['#/variants', 'Variants'],
    webhooks: ['#/webhooks', 'Webhooks'],
    webhook: [`#/webhook/${webhook_endpoint_id}`, 'Shop'],
    delivery: [`#/delivery/${tested.webhook_delivery_id}`, 'Webhook tested'],
    usage: ['#/usage', 'Usage'],
    activity: ['#/activity', 'Activity'],
    trash: ['#/trash', 'Trash'],
    settings: ['#/settings', 'Settings'],
    parts: ['#/parts', 'Parts'],
  } as const satisfies Record<string, StudioPage>
}

export type StudioPages = Awaited<ReturnType<typeof fillOrganization>>

/** The tracks of `makeDemoTape` with the shapes of their waveforms. */
const SHAPES = { first: 'sin(t)', second: 'abs(sin(t/2))', third: '1' }

/** Creates the collection "Demo tape" with three tracks of twelve seconds, the first of which has an artist in its tags. Resolves to its id. */
export async function makeDemoTape(stack: Shared): Promise<string> {
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const body = { title: 'Demo tape', player_subtitle: 'Various' }
  const { collection_id } = await must(client.post('/v1/collection', { body }))
  for (const [name, shape] of Object.entries(SHAPES)) {
    const flags = name === 'first' ? ['-metadata', 'artist=Ines Calder'] : []
    const expression = `0.5*sin(2*PI*330*t)*${shape}`
    await copyTrack(stack, collection_id, `${name}.mp3`, ['mp3', { seconds: 12, channels: 1, expression }, flags])
  }
  return collection_id
}
