import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { TRANSCODER } from '../../container/bundle.ts'
import { NODE_FLAGS } from '../../container/process/node_flags.ts'
import type { JobError, JobResult, JobVariant, TranscodeJob } from '../../src/contract/job.ts'
import { JobEvent } from '../../src/contract/job.ts'
import { showLog } from '../support/logs.ts'
import type { Storage } from './storage.ts'

// `npm run test:image` sets SERVICE_COMMAND to a program that starts the service inside an image. The image shares /tmp and runs as another user.
const COMMAND = process.env.SERVICE_COMMAND
  ? [process.env.SERVICE_COMMAND]
  : [process.execPath, ...NODE_FLAGS, TRANSCODER]

/** Starts the real service as a separate process on a free port. `wrap` can change its command, for example to run it inside another program. */
export async function startService(
  environment: Record<string, string> = {},
  wrap = (command: string[]): string[] => command,
) {
  const workDir = environment.WORK_DIR ?? (await mkdtemp(join(tmpdir(), 'tonearm-test-')))
  if (process.env.SERVICE_COMMAND && existsSync(workDir)) await chmod(workDir, 0o777)
  const env = { ...process.env, PORT: '0', WORK_DIR: workDir, PARENT_PID: String(process.pid), ...environment }
  const [program, ...args] = wrap(COMMAND)
  const child = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const logs: Record<string, unknown>[] = []
  showServiceLog({ pid: child.pid!, logs })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const port = await new Promise<number>((resolve, reject) => {
    // Waits for `close`, not `exit`: the log line with the reason may still be unread at exit.
    child.once('close', (code) => {
      const reason = logs.find(({ event }) => event === 'failed')?.message ?? 'it says nothing'
      reject(Object.assign(new Error(reason as string), { code }))
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line)
      logs.push(entry)
      if (entry.event === 'started') resolve(entry.port)
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    workDir,
    logs,
    exited,
    /** Names of the entries left in the work directory. */
    leftovers: () => readdir(workDir),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async stop() {
      await end(child, exited)
      await rm(workDir, { recursive: true, force: true })
    },
  }
}

/** Makes failing tests of the current file show the log of the service. */
export function showServiceLog({ pid, logs }: { pid: number; logs: unknown[] }): void {
  showLog(`the transcoder ${pid}`, () => logs.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

async function end(child: ChildProcess, exited: Promise<unknown>) {
  child.kill('SIGINT')
  await exited
}

export type Service = Awaited<ReturnType<typeof startService>>

const TYPES = { aac: 'audio/mp4', mp3: 'audio/mpeg', opus: 'audio/webm; codecs=opus', flac: 'audio/flac' }

/** The variants that the catalog requests by default, with uploads to `prefix` in the storage. */
export function catalogue(storage: Storage, prefix: string): JobVariant[] {
  const at = (index: string) => ({ index, url: storage.url(`${prefix}/${index}`) })
  const json = { content_type: 'application/json' }
  return [
    { ...at('aac-160'), content_type: TYPES.aac, kind: 'audio', codec: 'aac', bitrate: 160 },
    { ...at('mp3-128'), content_type: TYPES.mp3, kind: 'audio', codec: 'mp3', bitrate: 128 },
    { ...at('opus-96'), content_type: TYPES.opus, kind: 'audio', codec: 'opus', bitrate: 96 },
    { ...at('lossless'), content_type: TYPES.flac, kind: 'audio', codec: 'flac', bitrate: 0 },
    { ...at('preview'), content_type: TYPES.mp3, kind: 'preview', codec: 'mp3', bitrate: 128, start: 0, length: 30 },
    { ...at('waveform'), ...json, kind: 'waveform' },
    { ...at('analysis'), ...json, kind: 'analysis' },
  ]
}

/** A job for a source, with the whole catalog unless `changes` overrides it. Its uploads are prefixed with its id. */
export function newJob(
  storage: Storage,
  source: TranscodeJob['source'],
  changes: Partial<TranscodeJob> = {},
): TranscodeJob {
  const job_id = randomUUID()
  const variants = catalogue(storage, job_id)
  return {
    version: 1,
    job_id,
    pass: 'strict',
    source,
    max_duration: 600,
    variants,
    cover: null,
    early: null,
    tags: null,
    picture: null,
    ...changes,
  }
}

/** The variants that are encoded fastest: one audio variant and the two JSON files. */
export function lightVariants(storage: Storage, prefix: string): JobVariant[] {
  return catalogue(storage, prefix).filter(({ index }) => ['mp3-128', 'waveform', 'analysis'].includes(index))
}

export const JSON_BODY = { 'content-type': 'application/json' }

/** Posts a job and does not wait until the job ends. */
export function post(service: Service, job: unknown, id: string, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify(job)
  return fetch(`${service.url}/jobs/${id}`, { method: 'POST', headers: JSON_BODY, body, signal: signal ?? null })
}

/** Yields the events of a stream until it ends, each validated against the contract. */
export async function* eventsOf(response: Response): AsyncGenerator<JobEvent> {
  const decoder = new TextDecoder()
  let incomplete = ''
  for await (const chunk of response.body ?? []) {
    const lines = (incomplete + decoder.decode(chunk, { stream: true })).split('\n')
    incomplete = lines.pop() ?? ''
    for (const line of lines) yield JobEvent.parse(JSON.parse(line))
  }
}

export type Outcome = { events: JobEvent[]; result?: JobResult; error?: JobError; fallback?: string }

/** Runs a job to its end. */
export async function runJob(service: Service, job: TranscodeJob): Promise<Outcome> {
  const response = await post(service, job, job.job_id)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return collect(response)
}

/** Reads a stream to its end. */
export async function collect(response: Response): Promise<Outcome> {
  const outcome: Outcome = { events: [] }
  for await (const event of eventsOf(response)) {
    outcome.events.push(event)
    if (event.type === 'result') outcome.result = event.result
    if (event.type === 'error') outcome.error = event.error
    if (event.type === 'fallback') outcome.fallback = event.reason
  }
  return outcome
}

/** Runs a job that must succeed. */
export async function succeed(service: Service, job: TranscodeJob) {
  const outcome = await runJob(service, job)
  if (!outcome.result) throw new Error(`job failed: ${JSON.stringify(outcome.error)}`)
  return { ...outcome, result: outcome.result }
}
