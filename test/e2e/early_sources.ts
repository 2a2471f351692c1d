import { expect, vi } from 'vitest'

import { type Client } from '../../src/client/index.ts'
import { decode, makeAudio, tone } from '../support/audio.ts'
import { bytes, must, send, settle, TIMEOUT } from './steps.ts'

/**
 * A track that gets a second source while the first one may play early: every play view must have the name, the length and the sound of one of them, and no
 * path may ever get the sound of both.
 */

const RATE = 8000
/** The two sources. Both are longer than the minimum for early play. */
const SOURCES = { 'a.wav': { seconds: 31, hz: 440 }, 'b.wav': { seconds: 34, hz: 880 } }
type Name = keyof typeof SOURCES

let files: Promise<Record<Name, Buffer>> | undefined

async function makeFiles(): Promise<Record<Name, Buffer>> {
  const make = (name: Name) => {
    const { seconds, hz } = SOURCES[name]
    return makeAudio('wav', { seconds, rate: RATE, channels: 1, expression: tone(hz, -12) })
  }
  return { 'a.wav': await make('a.wav'), 'b.wav': await make('b.wav') }
}

/** Returns the frequency of a tone in the first second of a file, rounded to 20 Hz. */
async function frequencyOf(file: Buffer, duration: number): Promise<number> {
  const samples = await decode(file)
  const perSecond = Math.round(samples.length / duration)
  const second = samples.subarray(perSecond / 2, perSecond * 1.5)
  const crossings = second.reduce(
    (count, sample, at) => count + Number(at > 0 && sample >= 0 && second[at - 1]! < 0),
    0,
  )
  return Math.round(crossings / 20) * 20
}

/** Creates a track and a session for it; returns functions for the test. */
export async function aTrack(client: Client) {
  files ??= makeFiles()
  const sources = await files
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Sources' } }))
  const { track_id, track_upload } = await must(
    client.post('/v1/track', { body: { collection_id, file_name: 'a.wav' } }),
  )
  const params = { track_id }
  const body = { track_id, expires_in: 3600, variants: ['lossless', 'aac-160', 'mp3-128'] }
  const { play_session_id } = await must(client.post('/v1/play_session/track', { body }))
  const readView = async () => {
    const view = await client.get('/v1/play/{play_session_id}/{play_track_id}', {
      params: { play_session_id, play_track_id: track_id },
    })
    if (!view.ok) expect(view.code).toBe('track_not_ready')
    return view.ok ? view : null
  }
  type View = NonNullable<Awaited<ReturnType<typeof readView>>>
  const put = async (handle: typeof track_upload, name: Name) => {
    await send(handle, bytes(sources[name]))
    await must(client.post('/v1/track/{track_id}/upload_complete', { params }))
  }

  /** The different views that were read, and the files of their paths as they were at that time. */
  const seen = new Map<string, View>()
  const heard = new Map<string, Promise<Buffer>>()
  const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
  const observe = async () => {
    const view = await readView()
    if (view) {
      seen.set(`${view.track.file_name} ${view.variants.map(({ path }) => path).join(' ')}`, view)
      for (const { path, url } of view.variants) if (!heard.has(path)) heard.set(path, download(url))
    }
    return view
  }
  return {
    track_id,
    start: () => put(track_upload, 'a.wav'),
    async replace() {
      const renewed = await must(client.post('/v1/track/{track_id}/upload', { params, body: { file_name: 'b.wav' } }))
      await put(renewed.track_upload, 'b.wav')
    },
    async untilPreliminary() {
      await vi.waitFor(async () => expect((await observe())?.track.is_preliminary).toBe(true), {
        ...TIMEOUT,
        interval: 20,
      })
    },
    /** Reads views until the second source is ready, and checks all views that were read. */
    async expectSeparate() {
      await vi.waitFor(
        async () => expect((await observe())?.track).toMatchObject({ status: 'ready', file_name: 'b.wav' }),
        { ...TIMEOUT, interval: 50 },
      )
      expect(await settle(client, track_id)).toMatchObject({ duration: SOURCES['b.wav'].seconds })
      for (const { track, variants } of seen.values()) {
        const { seconds, hz } = SOURCES[track.file_name as Name]
        expect(track.duration).toBeCloseTo(seconds, 1)
        for (const { path, url } of variants) {
          expect([path, await frequencyOf(await heard.get(path)!, seconds)]).toEqual([path, hz])
          // No later job has overwritten the file.
          expect((await download(url)).equals(await heard.get(path)!)).toBe(true)
        }
      }
      return [...seen.values()].map(({ track }) => [track.file_name, track.is_preliminary])
    },
  }
}
