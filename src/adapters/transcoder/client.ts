import { JOB_SLOTS } from '../../contract/facts.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'

/**
 * Sends requests to the transcoder. It is a process at `TRANSCODER_URL`, or, if that is empty, a Cloudflare Container behind a Durable Object
 * (`src/background/transcode/follower.ts`). Both use the same protocol, `src/contract/job.ts`.
 */

const PORT = 8080
/** Timeouts in milliseconds. */
const START_TIMEOUT = 30_000
const HEALTH_TIMEOUT = 3000
const CANCEL_TIMEOUT = 5000

/** The number of transcoder instances: `TRANSCODER_INSTANCES`, or one by default. */
export const instances = (env: Env) => (env.TRANSCODER_URL ? 1 : Number(env.TRANSCODER_INSTANCES) || 1)

/** Returns the Durable Object of an instance. */
export const instanceOf = (env: Env, number: number) => env.TRANSCODER.getByName(`slot-${number}`)

/** Returns the options of a request, with the headers that the transcoder requires. */
export const toTranscoder = (
  env: Env,
  method: 'GET' | 'POST' | 'DELETE',
  body?: unknown,
  signal?: AbortSignal,
): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', authorization: `Bearer ${env.TRANSCODER_SECRET}` },
  ...(body !== undefined && { body: JSON.stringify(body) }),
  ...(signal && { signal }),
})

/** Sends a cover job to an instance. Throws if the instance cannot be reached. */
export function callForCover(env: Env, instance: number, body: unknown, signal: AbortSignal): Promise<Response> {
  const init = toTranscoder(env, 'POST', body, signal)
  if (env.TRANSCODER_URL) return fetch(`${env.TRANSCODER_URL}/covers`, init)
  return instanceOf(env, instance).fetch('http://transcoder/covers', init)
}

/**
 * Returns the number of jobs that the transcoder can run at the same time; 0 if a transcoder process does not respond. All container instances count,
 * because a job starts its container if necessary.
 */
export async function transcoderSlots(env: Env): Promise<number> {
  if (!env.TRANSCODER_URL) return instances(env) * JOB_SLOTS.length
  try {
    const request = toTranscoder(env, 'GET', undefined, AbortSignal.timeout(HEALTH_TIMEOUT))
    const response = await fetch(`${env.TRANSCODER_URL}/health`, request)
    const { slots } = await response.json<{ slots?: unknown[] }>()
    return response.ok ? (slots?.length ?? 1) : 0
  } catch {
    return 0
  }
}

/** Sends a request to a transcoder. Throws if the transcoder cannot be reached. */
export async function callTranscoder(
  env: Env,
  container: Container | undefined,
  path: string,
  init: RequestInit,
): Promise<Response> {
  if (env.TRANSCODER_URL) return fetch(`${env.TRANSCODER_URL}${path}`, init)
  if (!container) throw new Error('containers are not enabled here; set TRANSCODER_URL')
  return (await openContainer(container, env)).fetch(`http://transcoder${path}`, init)
}

/** Stops a job in a transcoder. Returns false if the job may still be running. */
export async function cancelJob(env: Env, container: Container | undefined, job_id: string): Promise<boolean> {
  if (!env.TRANSCODER_URL && !container?.running) return true
  try {
    const request = toTranscoder(env, 'DELETE', undefined, AbortSignal.timeout(CANCEL_TIMEOUT))
    const response = await callTranscoder(env, container, `/jobs/${job_id}`, request)
    await response.body?.cancel()
    // A 404 means that the job has ended and that its result is no longer kept.
    return response.ok || response.status === 404
  } catch (error) {
    log('error', 'cancel_failed', { job_id, error: describeError(error) })
    return false
  }
}

/** Returns the port of a container and starts the container if necessary. Throws if the container does not respond within 30 seconds. */
async function openContainer(container: Container, env: Env): Promise<Fetcher> {
  const port = container.getTcpPort(PORT)
  const deadline = Date.now() + START_TIMEOUT
  for (;;) {
    if (!container.running) {
      container.start({ enableInternet: true, env: { TRANSCODER_SECRET: env.TRANSCODER_SECRET } })
      // The error is ignored here because the caller gets its own error when the container fails. An unhandled rejection would also end this Durable
      // Object.
      container.monitor().catch(() => undefined)
    }
    try {
      const health = await port.fetch('http://transcoder/health', { signal: AbortSignal.timeout(HEALTH_TIMEOUT) })
      await health.body?.cancel()
      if (health.ok) return port
      throw new Error(`the container answers ${health.status}`)
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await scheduler.wait(300)
  }
}
