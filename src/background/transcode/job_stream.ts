import { readNdjson } from '../../adapters/transcoder/ndjson.ts'
import { JobEvent, JobEventType } from '../../contract/job.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import type { QueuedJob } from '../../domain/jobs.ts'

/**
 * Milliseconds of silence after which a transcoder is considered lost: a working transcoder sends an event every ten seconds (src/contract/job.ts).
 */
const SILENCE_TIMEOUT = 60_000

/**
 * Yields the events of a job until `signal` aborts, the stream breaks, no event arrives for too long, or the stream contains something that is not an
 * event.
 */
export async function* jobEvents(
  job: QueuedJob,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | { type: 'silence' }> {
  const lines = readNdjson(body)
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
  for (;;) {
    let event: JobEvent
    try {
      const next = lines.next()
      const received = new AbortController()
      const silence = scheduler.wait(SILENCE_TIMEOUT, { signal: received.signal }).then(
        () => 'silence' as const,
        () => null,
      )
      const read = signal.aborted ? null : await Promise.race([next, aborted, silence])
      received.abort()
      if (read === null || read === 'silence') {
        // The transcoder may continue to work on the job.
        next.catch(() => undefined)
        void lines.return(undefined).catch(() => undefined)
        if (read) yield { type: 'silence' }
        return
      }
      if (read.done) return
      // A newer transcoder may send event types that this Worker does not know.
      if (!JobEventType.safeParse(read.value).success) continue
      event = JobEvent.parse(read.value)
    } catch (error) {
      if (signal.aborted) return
      const details = { job_id: job.id, attempt: job.attempt, error: describeError(error) }
      log('error', 'transcoder_lost', details)
      return
    }
    yield event
  }
}
