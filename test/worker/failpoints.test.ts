import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import worker from '../../src/index.ts'
import { storedFiles, trackRow } from './fixtures.ts'
import { sendPart } from './parts.ts'
import { aWaitingTrack, call, query } from './support.ts'
import { error } from './transcoder.ts'
import { type Flow, persist, settle, walk, type World } from './walk.ts'

/**
 * Fails each call that the Worker makes to a binding, before or after it executes, in each flow of a file's life (docs/decisions/0045).
 * Then time passes: messages arrive, the sweep runs, the client repeats requests that got a 5xx. In the end the result is the same as
 * without faults: ready, or failed for the right reason, no object without a row, no file made twice.
 */

const put = async (track_id: string, bytes = 'RIFF\0audio') => {
  const { upload_path } = await trackRow(track_id)
  await env.MEDIA.put(upload_path, bytes)
}
const complete = (world: World) => persist(world, 'POST', `/v1/track/${world.track_id}/upload_complete`)
const createWaitingTrack = async (world: World) => {
  world.track_id = await aWaitingTrack(world.key, world.collection_id)
}
const createReadyTrack = async (world: World) => {
  await createWaitingTrack(world)
  await put(world.track_id)
  await complete(world)
  await settle(world)
  expect((await trackRow(world.track_id)).status).toBe('ready')
}
/** Creates a ready track, and another one whose job runs. */
const createRunningTrack = async (world: World) => {
  await createReadyTrack(world)
  world.answer = () => 'hold'
  await createWaitingTrack(world)
  await put(world.track_id)
  await complete(world)
  await settle(world, () => world.held.size > 0)
}

const isReady = async ({ track_id }: World) => expect((await trackRow(track_id)).status).toBe('ready')
const hasFailed = (code: string) => async (world: World) =>
  expect(await trackRow(world.track_id)).toMatchObject({ status: 'failed', info: { error: { code } } })
const isGone = async ({ organization_id, held }: World) => {
  const rows = await query('select 1 from tracks where organization_id = ?', organization_id)
  expect([rows, held.size]).toEqual([[], 0])
}

async function sendCover({ bindings }: World, url: string): Promise<void> {
  const body = new Uint8Array(32)
  body.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  for (let attempt = 1; ; attempt++) {
    const { status } = await worker.fetch(
      new Request(url, { method: 'POST', body }),
      bindings,
      createExecutionContext(),
    )
    if (status < 500) return
    expect(attempt).toBeLessThan(10)
  }
}

const flows: Record<string, Flow> = {
  'an upload': {
    given: async () => undefined,
    async does(world) {
      const body = { collection_id: world.collection_id, file_name: 'So What.mp3' }
      world.track_id = (await persist(world, 'POST', '/v1/track', body)).track_id
      await put(world.track_id)
      await complete(world)
    },
    gives: isReady,
  },
  'an upload announced by R2’s event': {
    given: createWaitingTrack,
    async does(world) {
      await put(world.track_id)
      const { upload_path: key } = await trackRow(world.track_id)
      world.messages.push({ queue: 'ingest', body: { action: 'PutObject', object: { key } } })
    },
    gives: isReady,
  },
  'a multipart upload': {
    given: createWaitingTrack,
    async does(world) {
      const at = `/v1/track/${world.track_id}/multipart`
      const { multipart_upload } = await persist(world, 'POST', at, { file_size: 10 })
      const { id } = multipart_upload
      const part = await sendPart(id, 1, 'RIFF\0audio')
      await persist(world, 'POST', `${at}/${id}/part`, { done: [part] })
      await persist(world, 'POST', `${at}/${id}/complete`)
    },
    gives: isReady,
  },
  'an upload that replaces another': {
    given: createReadyTrack,
    async does(world) {
      await persist(world, 'POST', `/v1/track/${world.track_id}/upload`, {})
      await put(world.track_id, 'RIFF\0other')
      await complete(world)
    },
    gives: isReady,
  },
  'files at two upload URLs of a track': {
    given: createWaitingTrack,
    async does(world) {
      await put(world.track_id)
      await persist(world, 'POST', `/v1/track/${world.track_id}/upload`, {})
      await put(world.track_id, 'RIFF\0another')
      await complete(world)
    },
    async gives(world) {
      await isReady(world)
      expect(await trackRow(world.track_id)).toMatchObject({ source_size: 12 })
    },
  },
  'a multipart upload that is deleted': {
    given: createWaitingTrack,
    async does(world) {
      await put(world.track_id)
      const at = `/v1/track/${world.track_id}/multipart`
      const { multipart_upload } = await persist(world, 'POST', at, { file_size: 12 })
      await sendPart(multipart_upload.id, 1, 'RIFF\0another')
      const { key, bindings } = world
      const remove = async () => (await call('DELETE', `${at}/${multipart_upload.id}`, { key, bindings })).status
      await vi.waitUntil(async () => (await remove()) < 500)
      await complete(world)
    },
    gives: isReady,
  },
  'a text file': {
    given: createWaitingTrack,
    async does(world) {
      await put(world.track_id, 'Dear diary, ')
      await complete(world)
    },
    gives: hasFailed('text_file'),
  },
  'a file that the transcoder cannot read': {
    given: createWaitingTrack,
    async does(world) {
      world.answer = () => error('unsupported_format', 'No decoder')
      await put(world.track_id)
      await complete(world)
    },
    gives: hasFailed('unsupported_format'),
  },
  'a cover': {
    given: async () => undefined,
    async does(world) {
      const { collection_cover_upload } = await persist(world, 'POST', `/v1/collection/${world.collection_id}/cover`)
      await sendCover(world, collection_cover_upload.upload_url)
    },
    async gives({ collection_id }) {
      const [row] = await query<{ cover_path: string }>(
        'select cover_path from collections where id = ?',
        collection_id,
      )
      expect(await storedFiles(`${row!.cover_path}/`)).toHaveLength(4)
    },
  },
  'the deletion of a track whose job runs': {
    given: createRunningTrack,
    does: (world) => persist(world, 'DELETE', `/v1/track/${world.track_id}`),
    async gives({ held, track_id }) {
      expect([await trackRow(track_id), held.size]).toEqual([undefined, 0])
    },
  },
  'the deletion of a collection whose job runs': {
    given: createRunningTrack,
    does: (world) => persist(world, 'DELETE', `/v1/collection/${world.collection_id}`),
    gives: isGone,
  },
  'the deletion of an organization whose job runs': {
    given: createRunningTrack,
    does: (world) => persist(world, 'DELETE', `/v1/organization/${world.organization_id}`, undefined, env.ROOT_KEY),
    gives: isGone,
  },
}

describe('faults at every second call', () => {
  it.each(Object.keys(flows))('do not change the outcome of %s', async (name) => {
    onTestFinished(() => void vi.useRealTimers())
    const flow = flows[name]!
    const places: string[] = []
    await walk(flow, (place) => (places.push(place), null))
    expect(places.length).toBeGreaterThan(2)
    const wrong: string[] = []
    for (const moment of ['before', 'after'] as const) {
      for (const first of [0, 1]) {
        const chosen = places.filter((_, at) => at % 2 === first)
        const fails = (place: string) => (chosen.includes(place) ? moment : null)
        await walk(flow, fails).catch((fault: Error) => wrong.push(`${moment} ${chosen.join(', ')}: ${fault.message}`))
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('a queue that rejects every message', () => {
  it('is compensated by the sweep', async () => {
    onTestFinished(() => void vi.useRealTimers())
    await walk(flows['an upload']!, (place) => (place.startsWith('TRANSCODE_QUEUE.') ? 'before' : null))
  })
})
