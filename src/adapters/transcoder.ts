import { JOB_SLOTS } from '../contract/facts.ts'

/**
 * The way to the transcoder: a process at `TRANSCODER_URL`, or, when that is empty, a Cloudflare Container behind a Durable Object
 * (`src/pipeline/transcode/follower.ts`). Both serve the same protocol, `src/contract/job.ts`.
 */

const PORT = 8080
/** Milliseconds. */
const START_TIMEOUT = 30_000
const HEALTH_TIMEOUT = 3000

/** How many transcoders there are. */
export const instances = (env: Env) => (env.TRANSCODER_URL ? 1 : Number(env.TRANSCODER_INSTANCES))

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

/** The way into a container, which is started if need be. Throws when it does not serve within half a minute. */
export async function openContainer(container: Container, env: Env): Promise<Fetcher> {
  const port = container.getTcpPort(PORT)
  const deadline = Date.now() + START_TIMEOUT
  for (;;) {
    if (!container.running) {
      container.start({ enableInternet: true, env: { TRANSCODER_SECRET: env.TRANSCODER_SECRET } })
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
