import { DurableObject } from 'cloudflare:workers'

/**
 * The way to the transcoder: a process at `TRANSCODER_URL`, or, when that is empty, a Cloudflare Container behind a Durable Object.
 * Both serve the same protocol, `src/contract/job.ts`.
 */

/** As many as `max_instances` in wrangler.toml: a job always goes to the same instance, so that it can be re-attached to. */
const INSTANCES = 5
const PORT = 8080
const START_TIMEOUT = 30_000

function slot(job_id: string): string {
  const number = Number.parseInt(job_id.slice(-6), 16)
  return `slot-${number % INSTANCES}`
}

/** Calls the transcoder for one job. Throws when it cannot be reached. */
export function callTranscoder(env: Env, job_id: string, path: string, body: unknown, signal?: AbortSignal) {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${env.TRANSCODER_SECRET}` },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  }
  if (env.TRANSCODER_URL) return fetch(`${env.TRANSCODER_URL}${path}`, init)
  return env.TRANSCODER.getByName(slot(job_id)).fetch(`http://transcoder${path}`, init)
}

/**
 * How many jobs a transcoder process runs at once; 0 when it does not serve. A container is started by its first job, so all count as
 * serving, with the one job that the queue gives each.
 */
export async function transcoderSlots(env: Env): Promise<number> {
  if (!env.TRANSCODER_URL) return INSTANCES
  try {
    const response = await fetch(`${env.TRANSCODER_URL}/health`, { signal: AbortSignal.timeout(3000) })
    const { slots } = await response.json<{ slots?: unknown[] }>()
    return response.ok ? (slots?.length ?? 1) : 0
  } catch {
    return 0
  }
}

/**
 * Starts the container when a job comes, and lets it sleep soon after: an idle minute costs more than the transcode of a song
 * (docs/architecture.md#containers).
 */
export class TranscoderContainer extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    const container = this.ctx.container
    if (!container) return new Response('containers are not enabled here; set TRANSCODER_URL', { status: 503 })
    if (!container.running) {
      container.start({ enableInternet: true, env: { TRANSCODER_SECRET: this.env.TRANSCODER_SECRET } })
      await container.setInactivityTimeout(60_000)
    }
    const port = container.getTcpPort(PORT)
    const deadline = Date.now() + START_TIMEOUT
    for (;;) {
      try {
        const health = await port.fetch('http://transcoder/health')
        await health.body?.cancel()
        if (health.ok) break
      } catch (error) {
        if (Date.now() > deadline) throw error
      }
      await scheduler.wait(300)
    }
    return port.fetch(request.url, request)
  }
}
