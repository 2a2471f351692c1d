import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'

import { trackColumn, trackPathSql, uploadPathSql } from '../../../src/adapters/bucket/track_storage.ts'
import type { JobEvent, TranscodeJob } from '../../../src/contract/job.ts'
import { call, heldQueue, query } from './api.ts'
import { faultyBindings, type FaultMoment } from './faulty_database.ts'
import {
  aTenant,
  deliver,
  eventually,
  transcoderObject,
  followWith,
  advanceHours,
  runSweep,
  type Tenant,
  storedFiles,
} from './fixtures.ts'
import { signedParts } from './signature.ts'
import { emptyStorage } from './storage.ts'
import { coverResult, errorEvent, eventStream, completeResult, openStream, startTranscoder } from './transcoder.ts'

/** Runs a workflow of an audio file with injected faults, and simulates the time that passes afterwards. */

export interface FaultWorld extends Tenant {
  bindings: Env
  messages: { queue: string; body: unknown }[]
  /** Returns the last event of a transcode job; `hold` keeps the job running until it is canceled. */
  answer: (job: TranscodeJob) => JobEvent | 'hold'
  transcodes: TranscodeJob[]
  held: Map<string, ReturnType<typeof openStream>>
  track_id: string
}

export interface Flow {
  /** Prepares the workflow. No call fails during the preparation. */
  setUp: (workspace: FaultWorld) => Promise<unknown>
  run: (workspace: FaultWorld) => Promise<unknown>
  /** Checks the final state of the track and its files. */
  verify: (workspace: FaultWorld) => Promise<unknown>
}

/** Repeats a request until its status is below 500, as a client does. */
export async function callWithRetries(
  workspace: FaultWorld,
  method: string,
  path: string,
  body?: object,
  key: string = workspace.key,
) {
  for (let attempt = 1; ; attempt++) {
    const answer = await call(method, path, { key, body, bindings: workspace.bindings })
    if (answer.status < 500) return answer.body
    expect(attempt, JSON.stringify(answer.body)).toBeLessThan(10)
  }
}

/** Starts a transcoder that cancels jobs on request, and remembers the last event of each job to return it for repeated requests. */
function aTranscoder(workspace: FaultWorld): void {
  const ends = new Map<string, JobEvent>()
  const { cancelled } = startTranscoder({
    async transcode(job) {
      workspace.transcodes.push(job)
      const { job_id, source, variants } = job
      if (workspace.held.has(job_id)) return workspace.held.get(job_id)!.response
      const source_path = signedParts(source.url).key
      const isThere = (await env.MEDIA.head(source_path)) !== null
      const end = isThere ? workspace.answer(job) : errorEvent('source_unavailable', 'It is not there', true)
      if (end === 'hold') workspace.held.set(job_id, openStream())
      // A canceled job writes two files before it ends.
      const sent = end === 'hold' ? variants.slice(0, 2) : end.type === 'result' && !ends.has(job_id) ? variants : []
      for (const { url } of sent) await env.MEDIA.put(signedParts(url).key, 'audio')
      if (end === 'hold') return workspace.held.get(job_id)!.response
      ends.set(job_id, end)
      return eventStream({ type: 'progress', fraction: 0.5 }, end)
    },
    async cover({ source, outputs }) {
      if (!(await env.MEDIA.head(signedParts(source.url).key))) {
        return { ok: false, error: { code: 'source_unavailable', message: 'It is not there', retryable: true } }
      }
      for (const url of Object.values(outputs)) await env.MEDIA.put(signedParts(url).key, 'jpeg')
      return coverResult()
    },
    cancel() {
      for (const job_id of cancelled) {
        workspace.held.get(job_id)?.send(errorEvent('cancelled', 'The job was cancelled.', true))
        workspace.held.delete(job_id)
      }
      return Response.json({ ok: true })
    },
  })
}

/** Resolves when no job is followed except the jobs that run until they are canceled. */
const nothingRuns = ({ held }: FaultWorld) =>
  eventually(() =>
    runInDurableObject(transcoderObject(), ({ activeJobs }) =>
      [...activeJobs.keys()].every((job_id) => held.has(job_id)),
    ),
  )

/** Advances time in steps of three minutes until no work is due within the next half hour. */
export async function settle(workspace: FaultWorld, isOver = () => false): Promise<void> {
  const { bindings, messages, track_id } = workspace
  for (let round = 0; round < 12; round++) {
    for (const { queue, body } of messages.splice(0)) {
      const { acknowledged } = await deliver(queue, body, { bindings })
      if (!acknowledged) messages.push({ queue, body })
    }
    await nothingRuns(workspace)
    if (isOver()) return
    const open = await query(
      `select 1 from jobs where state = 'open' and min(wake_at, lease_until) < ?1
        union all select 1 from tracks where id = ?2 and status in ('initializing', 'processing')`,
      Date.now() + 1800_000,
      track_id,
    )
    if (open.length === 0 && messages.length === 0) return
    advanceHours(0.05)
    // A sweep may fail, because the next one does the same work.
    await runSweep(bindings).catch(() => undefined)
  }
  throw new Error(`not settled: ${JSON.stringify(await query(`select * from jobs where state = 'open'`))}`)
}

/** Returns the objects without a row, the rows without an object, and the open jobs and upload handles that remain after all purges. */
async function remains(workspace: FaultWorld) {
  const open = () =>
    query(`select id, payload from jobs where state = 'open' union all select path, state from upload_handles`)
  for (let round = 0; round < 4 && (await open()).length > 0; round++) {
    advanceHours(8)
    await runSweep(workspace.bindings).catch(() => undefined)
    await settle(workspace)
  }
  const named = await query<{ path: string }>(
    `select iif(value ->> 0 = 'original', ${uploadPathSql(trackColumn)} || (files ->> '$.source'),
        ${trackPathSql(trackColumn)} || '/' || (files ->> '$.base') || '/' || (value ->> 0)) as path
        from tracks, json_each(files, '$.list')
      union select source_path from tracks where source_path is not null
      union select cover_path || '/' from collections where cover_path is not null`,
  )
  const stored = await storedFiles()
  const isAt = (key: string, path: string) => (path.endsWith('/') ? key.startsWith(path) : key === path)
  return {
    open: await open(),
    orphans: stored.filter((key) => !named.some(({ path }) => isAt(key, path))),
    missing: named.filter(({ path }) => !stored.some((key) => isAt(key, path))),
  }
}

/** Returns track events that were recorded more than once after the event `last`, and tracks whose final status has no event. */
const wrongChanges = (last: number) =>
  query(
    `select subject, type from events where seq > ?
      and type in ('track.created', 'track.uploaded', 'track.ready', 'track.failed', 'track.deleted') group by 1, 2 having count(*) > 1
      union select 'track:' || id, 'track.' || status from tracks where status in ('ready', 'failed')
        and not exists (select 1 from events where subject = 'track:' || tracks.id and type = 'track.' || status)`,
    last,
  )

/** Runs a workflow on empty storage and checks the remaining data. */
export async function runWithFaults(flow: Flow, fails: (place: string) => FaultMoment) {
  await emptyStorage()
  const messages: FaultWorld['messages'] = []
  const queue = (name: string) => heldQueue((body) => messages.push({ queue: name, body }))
  const held: Env = { ...env, TASK_QUEUE: queue('task'), TRANSCODE_QUEUE: queue('transcode') }
  const workspace: FaultWorld = {
    ...(await aTenant()),
    bindings: held,
    messages,
    answer: completeResult,
    transcodes: [],
    held: new Map(),
    track_id: '',
  }
  aTranscoder(workspace)
  followWith(held)
  try {
    await flow.setUp(workspace)
    const [lastEvent] = await query<{ last: number }>('select max(seq) as last from events')
    workspace.transcodes.splice(0)
    workspace.bindings = faultyBindings(held, fails)
    followWith(workspace.bindings)
    await flow.run(workspace)
    await settle(workspace)
    await flow.verify(workspace)
    expect(await wrongChanges(lastEvent!.last)).toEqual([])
    expect(await remains(workspace)).toEqual({ open: [], orphans: [], missing: [] })
    expect(new Set(workspace.transcodes.map(({ job_id }) => job_id)).size).toBeLessThan(2)
    expect(workspace.transcodes.length).toBeLessThan(3)
  } finally {
    vi.useRealTimers()
    await runInDurableObject(transcoderObject(), async (container, { storage }) => {
      for (const { leave } of container.activeJobs.values()) leave.abort()
      await storage.deleteAlarm()
      await storage.deleteAll()
    })
  }
}
