import { JOB_SLOTS } from '../contract/facts.ts'
import { describeError } from '../errors.ts'

/**
 * The way to the transcoder: a process at `TRANSCODER_URL`, or, when that is empty, a Cloudflare Container behind a Durable Object
 * (`src/pipeline/transcode/follower.ts`). Both serve the same protocol, `src/contract/job.ts`.
 */

const PORT = 8080
/** Milliseconds. */
const START_TIMEOUT = 30_000
const HEALTH_TIMEOUT = 3000
const CANCEL_TIMEOUT = 5000

/** How many transcoders there are: one unless `TRANSCODER_INSTANCES` says otherwise. */
export const instances = (env: Env) => (env.TRANSCODER_URL ? 1 : Number(env.TRANSCODER_INSTANCES) || 1)

/** The Durable Object of one of them. */
export const instanceOf = (env: Env, number: number) => env.TRANSCODER.getByName(`slot-${number}`)

/** A request as the transcoder wants it. */
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

/** Has a cover cut, by the instance that is most likely awake. Throws when it cannot be reached. */
export function callForCover(env: Env, body: unknown, signal: AbortSignal): Promise<Response> {
  const init = toTranscoder(env, 'POST', body, signal)
  if (env.TRANSCODER_URL) return fetch(`${env.TRANSCODER_URL}/covers`, init)
  return instanceOf(env, 0).fetch('http://transcoder/covers', init)
}

/**
 * How many jobs a transcoder process runs at once; 0 when it does not serve. A container is started by its first job, so all count as
 * serving.
 */
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

/** Asks a transcoder. Throws when it cannot be reached. */
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

/** Ends what a transcoder has of a job; false when that is not certain. */
export async function cancelJob(env: Env, container: Container | undefined, job_id: string): Promise<boolean> {
  if (!env.TRANSCODER_URL && !container?.running) return true
  try {
    const request = toTranscoder(env, 'DELETE', undefined, AbortSignal.timeout(CANCEL_TIMEOUT))
    const response = await callTranscoder(env, container, `/jobs/${job_id}`, request)
    await response.body?.cancel()
    // 404: it has ended, and is forgotten.
    return response.ok || response.status === 404
  } catch (error) {
    console.error(JSON.stringify({ event: 'cancel_failed', job_id, error: describeError(error) }))
    return false
  }
}

/** The way into a container, which is started if need be. Throws when it does not serve within half a minute. */
async function openContainer(container: Container, env: Env): Promise<Fetcher> {
  const port = container.getTcpPort(PORT)
  const deadline = Date.now() + START_TIMEOUT
  for (;;) {
    if (!container.running) {
      container.start({ enableInternet: true, env: { TRANSCODER_SECRET: env.TRANSCODER_SECRET } })
      // Nobody's fault here: whoever asks something of it notices. Unheard, it would end this Durable Object too.
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
