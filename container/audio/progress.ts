import type { JobEvent } from '../../src/contract/job.ts'

const INTERVAL_MS = 500
const DOWNLOAD = 0.15
const ENCODE = 0.7

/** Converts the completed fractions of the three stages to progress events for the job, at most two per second. */
export function createProgress(emit: (event: JobEvent) => void) {
  let highest = 0
  let lastAt = 0
  const report = (fraction: number) => {
    highest = Math.max(highest, Math.min(fraction, 1))
    if (Date.now() - lastAt < INTERVAL_MS) return
    lastAt = Date.now()
    emit({ type: 'progress', fraction: Math.round(highest * 1000) / 1000 })
  }
  return {
    downloaded: (fraction: number) => report(fraction * DOWNLOAD),
    encoded: (fraction: number) => report(DOWNLOAD + fraction * ENCODE),
    uploaded: (fraction: number) => report(DOWNLOAD + ENCODE + fraction * (1 - DOWNLOAD - ENCODE)),
    fallback(reason: string) {
      highest = DOWNLOAD
      emit({ type: 'fallback', reason })
    },
  }
}
