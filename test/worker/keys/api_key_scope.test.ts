import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import {
  anApiKey,
  anUploadSession,
  aWaitingTrack,
  call,
  callPlaySession,
  indexesOf,
  ok,
  query,
} from '../support/api.ts'
import { aTenant, eventually } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { errorEvent, serveTranscoder } from '../support/transcoder.ts'

describe('an API key that is used in a browser', () => {
  it('limits the variants and the downloads of its play sessions if it is a player key', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const track_id = await aProcessedTrack(key, collection_id)
    const session = (secret: string, body?: object) => callPlaySession(secret, 'track', track_id, body)
    const { secret } = await anApiKey(key, { variants: ['mp3-128', 'preview'], is_downloadable: true })
    const { play_session, first_track } = (await session(secret)).body
    expect(play_session).toMatchObject({ variants: ['mp3-128'], is_downloadable: false })
    expect(indexesOf(first_track!)).toEqual(['mp3-128'])
    const chosen = (await session(secret, { variants: ['preview'], is_downloadable: true })).body.play_session
    expect(chosen).toMatchObject({ variants: ['preview'], is_downloadable: true })
    const more = await session(secret, { variants: ['preview', 'lossless'] })
    expect([more.status, more.body.code]).toEqual([403, 'insufficient_scope'])
    const only = await anApiKey(key, { variants: ['preview'] })
    expect((await session(only.secret, { is_downloadable: true })).body.play_session).toMatchObject({
      variants: ['preview'],
      is_downloadable: false,
    })
    expect((await session(key, { is_downloadable: true })).body.play_session.is_downloadable).toBe(true)
  })

  it('can read the status of the tracks in its upload session, but of no other tracks, if it is an uploader key', async () => {
    serveTranscoder(() => errorEvent('no_audio', 'No audio'))
    const { key, collection_id } = await aTenant()
    const { secret } = await anApiKey(key, { type: 'uploader', collection_id })
    const { upload_session_id } = await anUploadSession(secret, collection_id)
    const path = `/v1/upload/${upload_session_id}/track`
    const { track_id } = await ok('POST', path, { key: secret, body: { file_name: 'a.mp3' } })
    const status = async () => (await ok('GET', `${path}/${track_id}`, { key: secret })).track
    expect(await status()).toMatchObject({ id: track_id, status: 'initializing', progress: null, error: null })
    const [row] = await query<{ upload_path: string }>('select upload_path from tracks where id = ?', track_id)
    await env.MEDIA.put(row!.upload_path, 'RIFF\0audio')
    expect((await status()).status).toBe('processing')
    await eventually(async () => (await status()).status === 'failed')
    expect((await status()).error).toEqual({ code: 'no_audio', message: 'No audio' })
    const another = await aWaitingTrack(key, collection_id)
    expect((await call('GET', `${path}/${another}`, { key: secret })).status).toBe(404)
  })
})
