import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect } from 'vitest'

import { makeAudio, makeImage, tone } from '../support/audio.ts'
import { createRecorder } from './examples_recorder.ts'
import {
  type Call,
  type Recorder,
  type Scene,
  untilReady,
  upload,
  uploadInParts,
  useSession,
} from './examples_uploads.ts'
import { bytes, send, TIMEOUT } from './steps.ts'

/** Requests every operation once, as a small label would, and returns the examples. */
export async function recordExamples(base_url: string, root: string): Promise<ReturnType<Recorder['examples']>> {
  const receiver = createServer((_, response) => response.writeHead(204).end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  try {
    const { call, examples } = createRecorder({
      [base_url]: 'https://audio.example.com',
      [hook]: 'https://example.com',
    })
    const scene = await createLibrary(call, root)
    await uploadInParts(scene)
    await useSession(scene)
    await fillPlaylist(scene)
    await defineVariant(scene)
    await playTracks(scene)
    await manageKeys(scene)
    await shareCollection(scene)
    await receiveWebhooks(scene, `${hook}/webhooks/tonearm`)
    await processAgain(scene)
    await readState(scene)
    await deleteEverything(scene)
    return examples()
  } finally {
    receiver.close()
  }
}

async function createLibrary(call: Call, root: string): Promise<Scene> {
  const created = await call('createOrganization', root, { body: { name: 'Night Bus Records' } })
  const { organization_id, secret: server } = created
  await call('listOrganizations', root, { query: { limit: '1' } })
  await call('getOrganization', server, { params: { organization_id } })
  const look = { theme: ['#1f2a44', '#f2a65a'], player_color: '#f2a65a' }
  await call('updateOrganization', server, { params: { organization_id }, body: look })

  const album = { title: 'Tidal Rooms', player_subtitle: 'Ada Moon', metadata: { catalog: 'NB-014' } }
  const { collection_id, collection_cover_upload } = await call('createCollection', server, { body: album })
  const params = { collection_id }
  await send(collection_cover_upload, bytes(await makeImage('jpeg')))
  await call('createCollectionCover', server, { params })
  const audio = await makeAudio('mp3', { seconds: 3, expression: tone(440, -12) })
  const tracks: string[] = []
  for (const file_name of ['01 Low Tide.mp3', '02 Harbour Lights.mp3']) {
    const { track_id, track_upload } = await call('createTrack', server, { body: { collection_id, file_name } })
    await upload(track_upload, audio)
    await call('completeTrackUpload', server, { params: { track_id } })
    tracks.push(track_id)
  }
  const scene = { call, root, server, organization_id, collection_id, tracks: tracks as [string, string], audio }
  for (const track_id of tracks) await untilReady(scene, track_id)
  await call('getCollectionCover', server, { params })
  await call('getCollection', server, { params })
  await call('listCollections', server, { query: { q: 'tidal', include: 'artwork,counts' } })
  await call('updateCollection', server, { params, body: { title: 'Tidal Rooms (Deluxe)' } })
  await editTracks(scene)
  return scene
}

async function editTracks({ call, server, collection_id, tracks }: Scene) {
  const [track_id, other] = tracks
  await call('getTrack', server, { params: { track_id } })
  await call('listTracks', server, { query: { status: 'ready', sort: '-created_at', include: 'loudness,collection' } })
  await call('listCollectionTracks', server, { params: { collection_id }, query: { include: 'levels,variants,ids' } })
  await call('updateTrack', server, {
    params: { track_id },
    body: { title: 'Low Tide', tags: { artist: 'Ada Moon', genre: 'Ambient' } },
  })
  const chapters = [
    { startTime: 0, title: 'Ebb' },
    { startTime: 1.5, title: 'Flood', url: 'https://nightbus.example/low-tide' },
  ]
  await call('setChapters', server, { params: { track_id }, body: { version: '1.2.0', chapters } })
  await call('getChapters', server, { params: { track_id } })
  await call('deleteChapters', server, { params: { track_id } })
  await call('createZip', server, { body: { track_ids: tracks, title: 'For the radio' } })
  await call('getTrackVariants', server, { params: { track_id } })
  await call('createTrackCover', server, { params: { track_id } })
  await call('getTrackCover', server, { params: { track_id } })
  await call('orderCollectionTracks', server, { params: { collection_id }, body: { track_ids: [other, track_id] } })
  const changes = tracks.map((id) => ({ action: 'update', track_id: id, player_subtitle: 'Ada Moon' }))
  await call('changeTracks', server, { body: { changes } })
}

async function fillPlaylist({ call, server, tracks }: Scene) {
  const [first, second] = tracks
  const { playlist_id } = await call('createPlaylist', server, { body: { title: 'Late Shift' } })
  const params = { playlist_id }
  await call('replacePlaylistTracks', server, { params, body: { track_ids: [first] } })
  await call('insertPlaylistTracks', server, { params, body: { track_ids: [second], position: 0 } })
  const list = await call('listPlaylistTracks', server, { params })
  const entry = { playlist_id, playlist_track_id: list.tracks[0].playlist_track_id }
  const headers = { 'if-match': `"${list.version}"` }
  await call('movePlaylistTrack', server, { params: entry, headers, body: { position: 1 } })
  await call('removePlaylistTrack', server, { params: entry })
  await call('updatePlaylist', server, { params, body: { title: 'Late Shift, Vol. 1' } })
  await call('getPlaylist', server, { params })
  await call('listPlaylists', server, { query: { include: 'counts' } })
  await call('createPlaylistPlaySession', server, { body: params })
  await call('createPlaylistCover', server, { params })
  await call('getPlaylistCover', server, { params })
  await call('deletePlaylist', server, { params, query: { trash: 'true' } })
}

async function defineVariant({ call, server }: Scene) {
  const body = { name: 'MP3 320', codec: 'mp3', bitrate: 320 }
  const { variant_id } = await call('createVariant', server, { body })
  await call('listVariants', server, { query: { limit: '3' } })
  await call('getVariant', server, { params: { variant_id } })
  await call('updateVariant', server, { params: { variant_id }, body: { bitrate: 256 } })
  await call('deleteVariant', server, { params: { variant_id } })
}

async function playTracks({ call, server, collection_id, tracks }: Scene) {
  const body = { collection_id, is_downloadable: true, variants: ['aac-160', 'mp3-128'] }
  const { heard_token, play_session_id } = await call('createCollectionPlaySession', server, { body })
  await call('createTrackPlaySession', server, { body: { track_id: tracks[0], expires_in: 600 } })
  const params = { play_session_id }
  await call('getPlaySession', server, { params })
  await call('playSession', null, { params, query: { views: '1' } })
  const listens = [{ track: tracks[0], ranges: [[0, 2.5]] }]
  const report = { visit: '0123456789abcdef', sequence: 1, age: 3, first: 0, source: 'shop.example.com', listens }
  await call('reportHeard', null, { params: { token: heard_token }, body: report })
  const one = { ...params, play_track_id: tracks[0] }
  await call('playTrack', null, { params: one })
  await call('downloadTrack', null, { params: { ...one, variant_index: 'mp3-128' } })
  await call('downloadAll', null, { params, query: { variant: 'mp3-128' } })
}

async function manageKeys({ call, server, collection_id }: Scene) {
  const shop = { title: 'Shop', type: 'player', collection_id, allowed_origins: ['https://nightbus.example'] }
  const { api_key_id } = await call('createApiKey', server, { body: shop })
  const params = { api_key_id }
  await call('listApiKeys', server)
  await call('getOwnApiKey', server)
  await call('getApiKey', server, { params })
  await call('updateApiKey', server, { params, body: { title: 'Shop and blog' } })
  await call('rotateApiKey', server, { params, body: { grace_seconds: 3600 } })
  await call('revokeApiKey', server, { params })
}

async function shareCollection({ call, server, collection_id }: Scene) {
  const body = { scope: 'collection', id: collection_id, password: 'last stop', is_downloadable: true }
  const { share_id } = await call('createShare', server, { body })
  const params = { share_id }
  await call('listShares', server, { query: { include: 'resource,visits' } })
  await call('getShare', server, { params })
  await call('updateShare', server, { params, body: { title: 'Tidal Rooms, for press', password: null } })
  await call('revokeShare', server, { params })
  await publishPodcast({ call, server, collection_id })
}

async function publishPodcast({ call, server, collection_id }: Pick<Scene, 'call' | 'server' | 'collection_id'>) {
  const feed = {
    author: 'Ines Calder',
    email: 'podcast@example.com',
    language: 'en',
    category: 'Music > Music Interviews',
  }
  const share = { scope: 'collection', id: collection_id, is_downloadable: true, feed }
  const shares = [share, { ...share, feed: { author: 'Ines Calder', block: true } }]
  const { results } = await call('createShares', server, { body: { shares } })
  await call('checkFeed', server, { params: { share_id: results[0].share_id } })
}

async function receiveWebhooks({ call, server }: Scene, url: string) {
  const body = { url, title: 'Shop', events: ['track.*'] }
  const { webhook_endpoint_id } = await call('createWebhookEndpoint', server, { body })
  const params = { webhook_endpoint_id }
  const { webhook_delivery_id } = await call('testWebhookEndpoint', server, { params })
  const delivery = { webhook_delivery_id }
  const state = async () =>
    (await call('getWebhookDelivery', server, { params: delivery }, false)).webhook_delivery.state
  await expect.poll(state, TIMEOUT).toBe('delivered')
  await call('getWebhookDelivery', server, { params: delivery })
  await call('listWebhookDeliveries', server, { query: { endpoint_id: webhook_endpoint_id } })
  await call('replayWebhookDelivery', server, { params: delivery })
  await call('getWebhookEndpoint', server, { params, query: { include: 'day' } })
  await call('listWebhookEndpoints', server)
  await call('updateWebhookEndpoint', server, { params, body: { title: 'Shop, new server', state: 'paused' } })
  await call('resumeWebhookEndpoint', server, { params })
  const since = new Date(Date.now() - 3_600_000).toISOString()
  await call('recoverWebhookEndpoint', server, { params, body: { since } })
  await call('rotateWebhookEndpoint', server, { params, body: { grace_seconds: 86_400 } })
  await call('deleteWebhookEndpoint', server, { params })
}

async function processAgain({ call, server, collection_id, tracks, audio }: Scene) {
  const params = { collection_id }
  await call('reprocessCollection', server, { params, body: { all: false } })
  const reprocessed = async () =>
    (await call('getCollectionReprocess', server, { params }, false)).reprocess?.state as string
  await expect.poll(reprocessed, TIMEOUT).toBe('done')
  await call('getCollectionReprocess', server, { params })
  await call('reprocessTrack', server, { params: { track_id: tracks[0] } })
  const replacement = { file_name: 'Low Tide (remaster).mp3', file_size: audio.length }
  await call('renewTrackUpload', server, { params: { track_id: tracks[1] }, body: replacement })
}

async function readState({ call, root, server, collection_id, tracks }: Scene) {
  await call('listEvents', server, { query: { type: 'collection.created', limit: '1', include: 'titles' } })
  await call('getUsage', server)
  const today = new Date().toISOString().slice(0, 10)
  const days = { from: today, to: today }
  await call('getStats', server, { params: { scope: 'collection', resource_id: collection_id }, query: days })
  await call('getTopStats', server, { query: { ...days, limit: '5' } })
  await call('getRetention', server, { params: { track_id: tracks[0] }, query: days })
  const listener = { listener: 'student-7' }
  const course = await call('createCollectionPlaySession', server, { body: { collection_id, ...listener } }, false)
  const listens = [{ track: tracks[0], ranges: [[0, 1.5]] }]
  const report = { visit: 'fedcba9876543210', sequence: 1, age: 2, first: 0, listens }
  await call('reportHeard', null, { params: { token: course.heard_token }, body: report }, false)
  await call('getProgress', server, { params: listener })
  await call('deleteProgress', server, { params: listener })
  await call('listLimits', server)
  await call('getSystem', root)
  await call('retryFailedTracks', root, { body: {} })
}

async function deleteEverything({ call, root, server, organization_id, collection_id, tracks }: Scene) {
  const trash = { trash: 'true' }
  await call('deleteTrack', server, { params: { track_id: tracks[1] }, query: trash })
  await call('listTrash', server)
  await call('restoreTrash', server, { params: { trash_id: tracks[1] } })
  await call('deleteCollection', server, { params: { collection_id }, query: trash })
  await call('deleteTrash', server, { params: { trash_id: collection_id } })
  await call('emptyTrash', server)
  await call('deleteOrganization', root, { params: { organization_id } })
}
