import { beat } from '../adapters/heartbeats.ts'
import type { System } from '../context.ts'
import { describeError } from '../errors.ts'
import { cutCover } from './cover.ts'
import { failTranscode } from './finish.ts'
import { ingestPath } from './ingest.ts'
import { claimJob, type Job, type JobMessage, releaseJob, sendJob } from './job.ts'
import { type KeyUse, writeUse } from './key_use.ts'
import { backoff, type Outcome } from './outcome.ts'
import { runPurge } from './purge.ts'
import { runReprocess } from './reprocess.ts'
import { transcode } from './transcode.ts'

/** What R2 sends when an object is written (docs/architecture.md#r2). */
interface UploadEvent {
  action: string
  object: { key: string }
}

/** What a queue is for: the last word of its name, so that a second deployment may name its queues otherwise. */
const partOf = (queue: string) => queue.split('-').at(-1)

const runners: Record<Job['payload']['kind'], (system: System, job: Job) => Promise<Outcome>> = {
  transcode,
  reprocess: runReprocess,
  cover: cutCover,
  purge: runPurge,
}

/** The consumer of every queue: each message is acknowledged or retried by itself. */
export async function consume(system: System, batch: MessageBatch): Promise<void> {
  if (partOf(batch.queue) === 'ingest') await beat(system.db, 'event', 60_000)
  for (const message of batch.messages) {
    try {
      if (partOf(batch.queue) === 'ingest') await ingestPath(system, (message.body as UploadEvent).object.key)
      else if (partOf(batch.queue) === 'dead') await bury(system, message.body as Partial<JobMessage>)
      else {
        const retry_in = await task(system, message as Message<JobMessage | KeyUse>)
        if (retry_in !== null) {
          message.retry({ delaySeconds: retry_in })
          continue
        }
      }
      message.ack()
    } catch (error) {
      console.error(
        JSON.stringify({
          event: 'message_failed',
          queue: batch.queue,
          attempt: message.attempts,
          error: describeError(error),
        }),
      )
      message.retry({ delaySeconds: backoff(message.attempts) })
    }
  }
}

/** Does what a message asks for; answers after how many seconds it is to come again, or null. */
async function task(system: System, message: Message<JobMessage | KeyUse>): Promise<number | null> {
  if (!('api_key_id' in message.body)) return work(system, message as Message<JobMessage>)
  await writeUse(system, message.body)
  return null
}

async function work(system: System, message: Message<JobMessage>): Promise<number | null> {
  const job = await claimJob(system, message.body.job_id)
  if (!job) return null
  let outcome: Outcome
  try {
    outcome = await runners[job.payload.kind](system, job).finally(() => system.forget(job.organization_id))
  } catch (error) {
    await releaseJob(system, job, backoff(message.attempts), true)
    throw error
  }
  if (outcome.end === 'done') return null
  await releaseJob(system, job, outcome.delay, outcome.end === 'retry' && outcome.counts)
  if (outcome.end === 'again') {
    await sendJob(system, job, outcome.delay)
    return null
  }
  // This uses up one of the queue's deliveries; the last one leads to the dead-letter queue.
  return Math.max(outcome.delay, outcome.counts ? 0 : backoff(message.attempts))
}

/** A message that was delivered in vain too often: its job ends here, unless somebody holds it at this moment. */
async function bury(system: System, body: Partial<JobMessage>): Promise<void> {
  console.error(JSON.stringify({ event: 'dead_letter', body }))
  if (!body.job_id) return
  const job = await claimJob(system, body.job_id)
  if (!job) return
  if (job.payload.kind === 'transcode') {
    const message =
      'The transcoder could not be reached for a long time; the upload is kept, process the track again later'
    await failTranscode(system, job, 'transcoder_unavailable', message)
  } else {
    // A cover or a purge has nobody who waits for it: the sweep tries again in an hour.
    await releaseJob(system, job, 3600, true)
  }
}
