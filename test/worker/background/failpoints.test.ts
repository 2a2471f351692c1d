import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { aWaitingTrack, call, query } from '../support/api.ts'
import { type Flow, callWithRetries, settle, runWithFaults, type FaultWorld } from '../support/fault_sequence.ts'
import { storedFiles, trackRow } from '../support/fixtures.ts'
import { sendPart } from '../support/multipart_uploads.ts'
import { sendCover } from '../support/tenant_events.ts'
import { errorEvent } from '../support/transcoder.ts'

/**
 * Makes each call of the Worker to a binding fail, before or after it executes, in each workflow of an audio file (docs/decisions/0045). Then time
 * passes: messages arrive, the sweep runs, and the client repeats requests that got a 5xx. The result must be the same as without faults: the track
 * is ready or failed for the right reason, there is no object without a row, and no file is generated twice.
 */

const put = async (track_id: string, bytes = 'RIFF\0audio') => {
  const { upload_path } = await trackRow(track_id)
  await env.MEDIA.put(upload_path, bytes)
}
const complete = (workspace: FaultWorld) =>
  callWithRetries(workspace, 'POST', `/v1/track/${workspace.track_id}/upload_complete`)
const createWaitingTrack = async (workspace: FaultWorld) => {
  workspace.track_id = await aWaitingTrack(workspace.key, workspace.collection_id)
}
const createReadyTrack = async (workspace: FaultWorld) => {
  await createWaitingTrack(workspace)
  await put(workspace.track_id)
  await complete(workspace)
  await settle(workspace)
  expect((await trackRow(workspace.track_id)).status).toBe('ready')
}
/** Creates a ready track, and another track whose job runs. */
const createRunningTrack = async (workspace: FaultWorld) => {
  await createReadyTrack(workspace)
  workspace.answer = () => 'hold'
  await createWaitingTrack(workspace)
  await put(workspace.track_id)
  await complete(workspace)
  await settle(workspace, () => workspace.held.size > 0)
}

const isReady = async ({ track_id }: FaultWorld) => expect((await trackRow(track_id)).status).toBe('ready')
const hasFailed = (code: string) => async (workspace: FaultWorld) =>
  expect(await trackRow(workspace.track_id)).toMatchObject({ status: 'failed', info: { error: { code } } })
const isGone = async ({ organization_id, held }: FaultWorld) => {
  const rows = await query('select 1 from tracks where organization_id = ?', organization_id)
  expect([rows, held.size]).toEqual([[], 0])
}

async function persistCover({ bindings }: FaultWorld, handle: { upload_url: string }): Promise<void> {
  for (let attempt = 1; (await sendCover(handle, bindings)) >= 500; attempt++) expect(attempt).toBeLessThan(10)
}

const flows: Record<string, Flow> = {
  'an upload': {
    setUp: async () => undefined,
    async run(workspace) {
      const body = { collection_id: workspace.collection_id, file_name: 'So What.mp3' }
      workspace.track_id = (await callWithRetries(workspace, 'POST', '/v1/track', body)).track_id
      await put(workspace.track_id)
      await complete(workspace)
    },
    verify: isReady,
  },
  'an upload announced by R2’s event': {
    setUp: createWaitingTrack,
    async run(workspace) {
      await put(workspace.track_id)
      const { upload_path: key } = await trackRow(workspace.track_id)
      workspace.messages.push({ queue: 'ingest', body: { action: 'PutObject', object: { key } } })
    },
    verify: isReady,
  },
  'a multipart upload': {
    setUp: createWaitingTrack,
    async run(workspace) {
      const at = `/v1/track/${workspace.track_id}/multipart`
      const { multipart_upload } = await callWithRetries(workspace, 'POST', at, { file_size: 10 })
      const { id } = multipart_upload
      const part = await sendPart(id, 1, 'RIFF\0audio')
      await callWithRetries(workspace, 'POST', `${at}/${id}/part`, { done: [part] })
      await callWithRetries(workspace, 'POST', `${at}/${id}/complete`)
    },
    verify: isReady,
  },
  'an upload that replaces another': {
    setUp: createReadyTrack,
    async run(workspace) {
      await callWithRetries(workspace, 'POST', `/v1/track/${workspace.track_id}/upload`, {})
      await put(workspace.track_id, 'RIFF\0other')
      await complete(workspace)
    },
    verify: isReady,
  },
  'files at two upload URLs of a track': {
    setUp: createWaitingTrack,
    async run(workspace) {
      await put(workspace.track_id)
      await callWithRetries(workspace, 'POST', `/v1/track/${workspace.track_id}/upload`, {})
      await put(workspace.track_id, 'RIFF\0another')
      await complete(workspace)
    },
    async verify(workspace) {
      await isReady(workspace)
      expect(await trackRow(workspace.track_id)).toMatchObject({ source_size: 12 })
    },
  },
  'a multipart upload that is deleted': {
    setUp: createWaitingTrack,
    async run(workspace) {
      await put(workspace.track_id)
      const at = `/v1/track/${workspace.track_id}/multipart`
      const { multipart_upload } = await callWithRetries(workspace, 'POST', at, { file_size: 12 })
      await sendPart(multipart_upload.id, 1, 'RIFF\0another')
      const { key, bindings } = workspace
      const remove = async () => (await call('DELETE', `${at}/${multipart_upload.id}`, { key, bindings })).status
      await vi.waitUntil(async () => (await remove()) < 500)
      await complete(workspace)
    },
    verify: isReady,
  },
  'a text file': {
    setUp: createWaitingTrack,
    async run(workspace) {
      await put(workspace.track_id, 'Dear diary, ')
      await complete(workspace)
    },
    verify: hasFailed('text_file'),
  },
  'a file that the transcoder cannot read': {
    setUp: createWaitingTrack,
    async run(workspace) {
      workspace.answer = () => errorEvent('unsupported_format', 'No decoder')
      await put(workspace.track_id)
      await complete(workspace)
    },
    verify: hasFailed('unsupported_format'),
  },
  'a cover': {
    setUp: async () => undefined,
    async run(workspace) {
      const { collection_cover_upload } = await callWithRetries(
        workspace,
        'POST',
        `/v1/collection/${workspace.collection_id}/cover`,
      )
      await persistCover(workspace, collection_cover_upload)
    },
    async verify({ collection_id }) {
      const [row] = await query<{ cover_path: string }>(
        'select cover_path from collections where id = ?',
        collection_id,
      )
      expect(await storedFiles(`${row!.cover_path}/`)).toHaveLength(4)
    },
  },
  'the deletion of a track whose job runs': {
    setUp: createRunningTrack,
    run: (workspace) => callWithRetries(workspace, 'DELETE', `/v1/track/${workspace.track_id}`),
    async verify({ held, track_id }) {
      expect([await trackRow(track_id), held.size]).toEqual([undefined, 0])
    },
  },
  'the deletion of a collection whose job runs': {
    setUp: createRunningTrack,
    run: (workspace) => callWithRetries(workspace, 'DELETE', `/v1/collection/${workspace.collection_id}`),
    verify: isGone,
  },
  'the deletion of an organization whose job runs': {
    setUp: createRunningTrack,
    run: (workspace) =>
      callWithRetries(workspace, 'DELETE', `/v1/organization/${workspace.organization_id}`, undefined, env.ROOT_KEY),
    verify: isGone,
  },
}

describe('faults at every second call', () => {
  it.each(Object.keys(flows))('do not change the outcome of %s', async (name) => {
    onTestFinished(() => void vi.useRealTimers())
    const flow = flows[name]!
    const places: string[] = []
    await runWithFaults(flow, (place) => (places.push(place), null))
    expect(places.length).toBeGreaterThan(2)
    const wrong: string[] = []
    for (const moment of ['before', 'after'] as const) {
      for (const first of [0, 1]) {
        const chosen = places.filter((_, at) => at % 2 === first)
        const fails = (place: string) => (chosen.includes(place) ? moment : null)
        await runWithFaults(flow, fails).catch((fault: Error) =>
          wrong.push(`${moment} ${chosen.join(', ')}: ${fault.message}`),
        )
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('a queue that rejects every message', () => {
  it('is compensated for by the sweep', async () => {
    onTestFinished(() => void vi.useRealTimers())
    await runWithFaults(flows['an upload']!, (place) => (place.startsWith('TRANSCODE_QUEUE.') ? 'before' : null))
  })
})
