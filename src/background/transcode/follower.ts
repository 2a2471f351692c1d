import { DurableObject } from 'cloudflare:workers'

import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import type { LeasedJob } from '../../domain/jobs.ts'
import type { TranscoderPort } from './port.ts'

/**
 * A Durable Object per transcoder. It follows the transcoder's jobs to their end, however long they take. An alarm keeps the object alive, but an
 * alarm may run for at most 15 minutes (Durable Objects, Limits), so it disconnects before that, and the next alarm reconnects to the same jobs. The
 * list of jobs is stored in the object, so following continues after a restart or a deployment (docs/decisions/0033).
 */

/** Milliseconds for which one alarm follows jobs, and pause before it reconnects to a job. */
const LIFE = 10 * 60_000
const PAUSE = 5000
/**
 * Milliseconds for which a container stays awake without a request: while it works, longer than any gap between requests; while it is idle, short,
 * because idle time costs money.
 */
const AWAKE = 15 * 60_000
const IDLE = 60_000

interface ActiveJob {
  holder: string | null
  leave: AbortController
  ended: Promise<void>
}

export abstract class TranscodeFollower extends DurableObject<Env> {
  /** The jobs that are currently followed. */
  readonly activeJobs = new Map<string, ActiveJob>()
  /** Milliseconds after which an alarm ends and the next one continues. */
  life = LIFE
  /** Milliseconds until the next attempt to follow a job that could not be followed. */
  pause = PAUSE

  /** Opens the database and loads the code that follows jobs. Only called when there is a job to follow (docs/decisions/0029). */
  abstract open(): Promise<TranscoderPort>

  /** Starts following a job that was claimed for this transcoder. */
  async follow(job: LeasedJob): Promise<void> {
    await this.ctx.storage.put(job.id, job.holder)
    this.#begin(job)
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now())
  }

  /** Cancels a job and its processes. Returns false when the processes may still be running. */
  async cancel(job_id: string): Promise<boolean> {
    await this.ctx.storage.delete(job_id)
    this.activeJobs.get(job_id)?.leave.abort()
    const port = await this.open()
    return port.cancel(this.ctx.container, job_id)
  }

  override async alarm(): Promise<void> {
    const until = Date.now() + this.life
    for (const [id, holder] of await this.ctx.storage.list<string | null>()) this.#begin({ id, holder })
    let retryPause = this.pause
    while (this.activeJobs.size > 0) {
      const ended = Array.from(this.activeJobs.values(), (job) => job.ended)
      const remaining = until - Date.now()
      if (remaining > 0) {
        const timer = new AbortController()
        await Promise.race([...ended, scheduler.wait(remaining, { signal: timer.signal }).catch(() => undefined)])
        timer.abort()
        continue
      }
      for (const { leave } of this.activeJobs.values()) leave.abort()
      await Promise.all(ended)
      retryPause = 0
    }
    const openJobs = await this.ctx.storage.list({ limit: 1 })
    if (openJobs.size > 0) await this.ctx.storage.setAlarm(Date.now() + retryPause)
  }

  /** Forwards requests that are not jobs, such as covers, to the transcoder. */
  override async fetch(request: Request): Promise<Response> {
    return this.#call(await this.open(), new URL(request.url).pathname, request)
  }

  #begin(job: LeasedJob): void {
    const previous = this.activeJobs.get(job.id)
    if (previous?.holder === job.holder) return
    // The lease of the job expired, and the job was claimed again.
    previous?.leave.abort()
    const leave = new AbortController()
    const ended = this.#run(job, leave.signal).then(() => {
      if (this.activeJobs.get(job.id)?.leave === leave) this.activeJobs.delete(job.id)
      return this.#stayAwake().catch(() => undefined)
    })
    this.activeJobs.set(job.id, { holder: job.holder, leave, ended })
  }

  async #run(job: LeasedJob, signal: AbortSignal): Promise<void> {
    try {
      const port = await this.open()
      const transcoder = {
        call: (path: string, init: RequestInit) => this.#call(port, path, init),
        cancel: () => port.cancel(this.ctx.container, job.id),
      }
      const outcome = await port.run(job, transcoder, signal)
      if (outcome === 'held' || signal.aborted) return
      if ((await this.ctx.storage.get(job.id)) === job.holder) await this.ctx.storage.delete(job.id)
      // If this job could not be started, another one could not be started either, so nothing is dispatched now. Messages in the queue retry the
      // jobs.
      if (outcome === 'ended') await port.dispatch()
    } catch (error) {
      // The sweep wakes the queue again, and the job becomes free when its lease expires.
      log('error', 'follower_failed', { job_id: job.id, error: describeError(error) })
    }
  }

  async #call(port: TranscoderPort, path: string, init: RequestInit): Promise<Response> {
    const answer = await port.call(this.ctx.container, path, init)
    await this.#stayAwake().catch(() => undefined)
    return answer
  }

  async #stayAwake(): Promise<void> {
    const { container } = this.ctx
    if (container?.running) await container.setInactivityTimeout(this.activeJobs.size > 0 ? AWAKE : IDLE)
  }
}
