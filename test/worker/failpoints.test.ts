import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { storedFiles, trackRow } from './fixtures.ts'
import { sendPart } from './parts.ts'
import { sendCover } from './shop_with_events.ts'
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
const complete = (workspace: World) => persist(workspace, 'POST', `/v1/track/${workspace.track_id}/upload_complete`)
const createWaitingTrack = async (workspace: World) => {
  workspace.track_id = await aWaitingTrack(workspace.key, workspace.collection_id)
}
const createReadyTrack = async (workspace: World) => {
  await createWaitingTrack(workspace)
  await put(workspace.track_id)
  await complete(workspace)
  await settle(workspace)
  expect((await trackRow(workspace.track_id)).status).toBe('ready')
}
/** Creates a ready track, and another one whose job runs. */
const createRunningTrack = async (workspace: World) => {
  await createReadyTrack(workspace)
  workspace.answer = () => 'hold'
  await createWaitingTrack(workspace)
  await put(workspace.track_id)
  await complete(workspace)
  await settle(workspace, () => workspace.held.size > 0)
}

const isReady = async ({ track_id }: World) => expect((await trackRow(track_id)).status).toBe('ready')
const hasFailed = (code: string) => async (workspace: World) =>
  expect(await trackRow(workspace.track_id)).toMatchObject({ status: 'failed', info: { error: { code } } })
const isGone = async ({ organization_id, held }: World) => {
  const rows = await query('select 1 from tracks where organization_id = ?', organization_id)
  expect([rows, held.size]).toEqual([[], 0])
}

async function persistCover({ bindings }: World, handle: { upload_url: string }): Promise<void> {
  for (let attempt = 1; (await sendCover(handle, bindings)) >= 500; attempt++) expect(attempt).toBeLessThan(10)
}

const flows: Record<string, Flow> = {
  'an upload': {
    given: async () => undefined,
    async does(workspace) {
      const body = { collection_id: workspace.collection_id, file_name: 'So What.mp3' }
      workspace.track_id = (await persist(workspace, 'POST', '/v1/track', body)).track_id
      await put(workspace.track_id)
      await complete(workspace)
    },
    gives: isReady,
  },
  'an upload announced by R2’s event': {
    given: createWaitingTrack,
    async does(workspace) {
      await put(workspace.track_id)
      const { upload_path: key } = await trackRow(workspace.track_id)
      workspace.messages.push({ queue: 'ingest', body: { action: 'PutObject', object: { key } } })
    },
    gives: isReady,
  },
  'a multipart upload': {
    given: createWaitingTrack,
    async does(workspace) {
      const at = `/v1/track/${workspace.track_id}/multipart`
      const { multipart_upload } = await persist(workspace, 'POST', at, { file_size: 10 })
      const { id } = multipart_upload
      const part = await sendPart(id, 1, 'RIFF\0audio')
      await persist(workspace, 'POST', `${at}/${id}/part`, { done: [part] })
      await persist(workspace, 'POST', `${at}/${id}/complete`)
    },
    gives: isReady,
  },
  'an upload that replaces another': {
    given: createReadyTrack,
    async does(workspace) {
      await persist(workspace, 'POST', `/v1/track/${workspace.track_id}/upload`, {})
      await put(workspace.track_id, 'RIFF\0other')
      await complete(workspace)
    },
    gives: isReady,
  },
  'files at two upload URLs of a track': {
    given: createWaitingTrack,
    async does(workspace) {
      await put(workspace.track_id)
      await persist(workspace, 'POST', `/v1/track/${workspace.track_id}/upload`, {})
      await put(workspace.track_id, 'RIFF\0another')
      await complete(workspace)
    },
    async gives(workspace) {
      await isReady(workspace)
      expect(await trackRow(workspace.track_id)).toMatchObject({ source_size: 12 })
    },
  },
  'a multipart upload that is deleted': {
    given: createWaitingTrack,
    async does(workspace) {
      await put(workspace.track_id)
      const at = `/v1/track/${workspace.track_id}/multipart`
      const { multipart_upload } = await persist(workspace, 'POST', at, { file_size: 12 })
      await sendPart(multipart_upload.id, 1, 'RIFF\0another')
      const { key, bindings } = workspace
      const remove = async () => (await call('DELETE', `${at}/${multipart_upload.id}`, { key, bindings })).status
      await vi.waitUntil(async () => (await remove()) < 500)
      await complete(workspace)
    },
    gives: isReady,
  },
  'a text file': {
    given: createWaitingTrack,
    async does(workspace) {
      await put(workspace.track_id, 'Dear diary, ')
      await complete(workspace)
    },
    gives: hasFailed('text_file'),
  },
  'a file that the transcoder cannot read': {
    given: createWaitingTrack,
    async does(workspace) {
      workspace.answer = () => error('unsupported_format', 'No decoder')
      await put(workspace.track_id)
      await complete(workspace)
    },
    gives: hasFailed('unsupported_format'),
  },
  'a cover': {
    given: async () => undefined,
    async does(workspace) {
      const { collection_cover_upload } = await persist(
        workspace,
        'POST',
        `/v1/collection/${workspace.collection_id}/cover`,
      )
      await persistCover(workspace, collection_cover_upload)
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
    does: (workspace) => persist(workspace, 'DELETE', `/v1/track/${workspace.track_id}`),
    async gives({ held, track_id }) {
      expect([await trackRow(track_id), held.size]).toEqual([undefined, 0])
    },
  },
  'the deletion of a collection whose job runs': {
    given: createRunningTrack,
    does: (workspace) => persist(workspace, 'DELETE', `/v1/collection/${workspace.collection_id}`),
    gives: isGone,
  },
  'the deletion of an organization whose job runs': {
    given: createRunningTrack,
    does: (workspace) =>
      persist(workspace, 'DELETE', `/v1/organization/${workspace.organization_id}`, undefined, env.ROOT_KEY),
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
