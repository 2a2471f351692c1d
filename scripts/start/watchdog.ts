import { setTimeout as sleep } from 'node:timers/promises'

import { watchBusy } from './busy.ts'

/** Detects a Worker that no longer responds. */

interface Limits {
  /** Milliseconds until the first answer. */
  start: number
  /** Milliseconds between two probes, which are also the maximum time of one. */
  probe: number
  /** Milliseconds without an answer after which the Worker is restarted, unless it is busy. */
  silence: number
  /** The same after wrangler reported a crash of workerd or a connection was refused: wrangler recovers within a second, or never. */
  afterCrash: number
  /** Milliseconds without an answer after which a busy Worker is restarted too. */
  busy: number
}

export const READY_TIMEOUT = 90_000
const LIMITS: Limits = { start: READY_TIMEOUT, probe: 5000, silence: 30_000, afterCrash: 5000, busy: 300_000 }

export interface Watchdog {
  /** Notes that the Worker has answered. */
  answered: () => void
  /** Ends the wait for the next probe, because wrangler has reported a crash of workerd. */
  crashed: () => void
  /**
   * Resolves with the reason when the Worker no longer responds, or when `isRunning` is false. Wrangler restarts a workerd process that crashed, but if it was
   * the proxy, every later request waits forever. `onSlow` is called when a silent Worker is not restarted, because it is busy.
   */
  whenUnresponsive: (pid: number, isRunning: () => boolean, onSlow: () => void) => Promise<string>
}

/** Probes a URL that the Worker answers. */
export function createWatchdog(url: string, limits = LIMITS): Watchdog {
  /** Whether the current Worker has answered. */
  let isServing = false
  /** When wrangler first reported a crash, or a connection was first refused, since the last answer. */
  let crashedAt: number | null = null
  let wake = new AbortController()

  async function whenUnresponsive(pid: number, isRunning: () => boolean, onSlow: () => void): Promise<string> {
    ;[isServing, crashedAt] = [false, null]
    const isBusy = watchBusy(pid)
    let answeredAt = Date.now()
    let deadline = answeredAt + limits.start
    while (isRunning()) {
      const startedAt = Date.now()
      if (isServing && crashedAt !== null) deadline = Math.min(deadline, crashedAt + limits.afterCrash)
      if (startedAt >= deadline) {
        if (crashedAt !== null || startedAt >= answeredAt + limits.busy || !isBusy()) break
        deadline = startedAt + limits.silence
        onSlow()
      }
      const timeout = Math.min(limits.probe, Math.max(1000, Math.round((deadline - startedAt) / 2)))
      const signal = AbortSignal.any([wake.signal, AbortSignal.timeout(timeout)])
      const answer = await fetch(url, { signal }).catch((error: Error) => error)
      if (answer instanceof Response) {
        await answer.body?.cancel().catch(() => {})
        ;[isServing, crashedAt, answeredAt] = [true, null, Date.now()]
        deadline = answeredAt + limits.silence
        isBusy()
      } else if (isServing && isRefusal(answer)) crashedAt ??= startedAt
      const pause = answer instanceof Response ? limits.probe : Math.min(timeout, 1000)
      await sleep(Math.max(0, pause - (Date.now() - startedAt)), undefined, { signal: wake.signal }).catch(() => {})
    }
    return crashedAt === null
      ? `no answer for ${Math.round((Date.now() - answeredAt) / 1000)} s`
      : 'no answer after a crash'
  }

  return {
    answered: () => void (isServing = true),
    crashed() {
      crashedAt ??= Date.now()
      wake.abort()
      wake = new AbortController()
    },
    whenUnresponsive,
  }
}

const isRefusal = ({ cause }: Error) => cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
