import { JOB_SLOTS } from '../../contract/facts.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'

/**
 * Access to the transcoder: a process at `TRANSCODER_URL`, or, if that is empty, a Cloudflare Container behind a Durable Object
 * (`src/pipeline/transcode/follower.ts`). Both serve the same protocol, `src/contract/job.ts`.
 */

const PORT = 8080
/** Milliseconds. */
const START_TIMEOUT = 30_000
const HEALTH_TIMEOUT = 3000
const CANCEL_TIMEOUT = 5000

/** How many transcoders there are: one unless `TRANSCODER_INSTANCES` says otherwise. */
export const instances = (env: Env) => (env.TRANSCODER_URL ? 1 : Number(env.TRANSCODER_INSTANCES) || 1)

/** The Durable Object of one instance. */
export const instanceOf = (env: Env, number: number) => env.TRANSCODER.getByName(`slot-${number}`)

/** A request with the headers that the transcoder requires. */
export const toTranscoder = (
  env: Env,
  method: 'POST' | 'DELETE',
  body?: unknown,
  signal?: AbortSignal,
): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', authorization: `Bearer ${env.TRANSCODER_SECRET}` },
  ...(body !== undefined && { body: JSON.stringify(body) }),
  ...(signal && { signal }),
})

/** Sends a cover job to the instance that is most likely awake. Throws if it cannot be reached. */
export function callForCover(env: Env, body: unknown, signal: AbortSignal): Promise<Response> {
  const init = toTranscoder(env, 'POST', body, signal)
  if (env.TRANSCODER_URL) return fetch(`${env.TRANSCODER_URL}/covers`, init)
  return instanceOf(env, 0).fetch('http://transcoder/covers', init)
}

/** How many jobs a transcoder process runs at once; 0 if it does not respond. Jobs start their containers, so every instance counts. */
export async function transcoderSlots(env: Env): Promise<number> {
  if (!env.TRANSCODER_URL) return instances(env) * JOB_SLOTS.length
  try {
    const response = await fetch(`${env.TRANSCODER_URL}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT) })
    const { slots } = await response.json<{ slots?: unknown[] }>()
    return response.ok ? (slots?.length ?? 1) : 0
  } catch {
    return 0
  }
}

/** Sends a request to a transcoder. Throws if it cannot be reached. */
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

/** Stops a job in a transcoder; false if that is not certain. */
export async function cancelJob(env: Env, container: Container | undefined, job_id: string): Promise<boolean> {
  if (!env.TRANSCODER_URL && !container?.running) return true
  try {
    const request = toTranscoder(env, 'DELETE', undefined, AbortSignal.timeout(CANCEL_TIMEOUT))
    const response = await callTranscoder(env, container, `/jobs/${job_id}`, request)
    await response.body?.cancel()
    // 404: the job has ended and is no longer stored.
    return response.ok || response.status === 404
  } catch (error) {
    log('error', 'cancel_failed', { job_id, error: describeError(error) })
    return false
  }
}

/** The port of a container, which is started if necessary. Throws if it does not respond within 30 seconds. */
async function openContainer(container: Container, env: Env): Promise<Fetcher> {
  const port = container.getTcpPort(PORT)
  const deadline = Date.now() + START_TIMEOUT
  for (;;) {
    if (!container.running) {
      container.start({ enableInternet: true, env: { TRANSCODER_SECRET: env.TRANSCODER_SECRET } })
      // The caller of a failed container sees the error itself. An unhandled rejection would also end this Durable Object.
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
