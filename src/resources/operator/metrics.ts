import { ne, sql } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import type { Context } from '../../context.ts'
import { LISTENING_LIMIT } from '../../contract/facts.ts'
import { SystemPart } from '../../contract/system.ts'
import { HOUR } from '../../contract/time.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { isQueued } from '../../domain/transcode/queue.ts'
import { dueEndpoints, scheduledEndpoints } from '../../domain/webhooks/due.ts'
import { readSystem } from './system.ts'

/** The state of the service in Prometheus' text format 0.0.4 (docs/metrics.md). All metrics are gauges: the Worker keeps no counters. */

/** Milliseconds. Ended jobs are counted if they were created in this period. */
const PERIOD = HOUR
/** Maximum number of due deliveries that are counted per endpoint, because every one of them is one row read. */
const MAX_DUE = 1000

type Labels = Record<string, string>
type Sample = [value: number, labels?: Labels]

/** The metrics and their descriptions. docs/metrics.md and the dashboard use the same names; a test compares them. */
const METRICS = {
  failing: 'Whether a part of the service fails, 1 or 0, as in GET /v1/system',
  database_size_bytes: 'Size of the database without free pages',
  database_limit_bytes: 'Size at which the database is full, DATABASE_LIMIT_BYTES',
  database_latency_seconds: 'Response time of the database, measured by the Worker',
  jobs: 'Jobs by kind and state: all open jobs, and the jobs of the last hour that are done or failed',
  job_oldest_age_seconds: 'Age of the oldest open job of a kind',
  failures: 'Failed jobs of the last hour by error code',
  retryable_failures:
    'Failed jobs of the last hour whose tracks POST /v1/system/retry would process again, by error code',
  transcode_queued: 'Transcodes that wait for a slot',
  transcode_slots: 'Transcodes that can run at the same time; 0 if the transcoder does not respond',
  transcode_slots_busy: 'Transcodes that are running',
  webhook_deliveries_due: `Webhook deliveries that are due, at most ${MAX_DUE} per endpoint`,
  webhook_endpoints: 'Webhook endpoints by state',
  last_sweep_timestamp_seconds: 'When the last sweep ended, in seconds since 1970',
  last_sweep_queries: 'Queries of the last sweep, which stops at a fixed number',
  last_sweep_left: 'Phases that the last sweep left to the next ones because its queries were spent',
  last_sweep_failed: 'Phases of the last sweep that failed',
  listening_largest_bytes: 'Size of the largest object of listening at its last fold',
  listening_limit_bytes: 'Size at which an object of listening is full',
  last_upload_event_timestamp_seconds: 'When R2 last reported an upload, in seconds since 1970, accurate to a minute',
} as const

/** Escapes a label value as the text format requires. */
const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

function render(samples: Record<keyof typeof METRICS, Sample[]>): string {
  const lines = Object.entries(METRICS).flatMap(([metric, help]) => {
    const name = `tonearm_${metric}`
    const values = samples[metric as keyof typeof METRICS].map(([value, labels = {}]) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
      return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
    })
    return values.length > 0 ? [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...values] : []
  })
  return `${lines.join('\n')}\n`
}

/** Reads the transcode queue and the webhooks. The number of rows is bounded by the queue and by `MAX_DUE` for each endpoint. */
async function readQueues(db: Database, now: number) {
  const count = sql<number>`count`
  const due = sql`(select count(*) from (select 1 from webhook_deliveries as due
    where due.endpoint_id = endpoint.id and due.due_at <= ${now} limit ${MAX_DUE}))`
  const [queued, deliveries, endpoints] = await db.batch([
    db.select({ count }).from(sql`(select count(*) as count from jobs where ${isQueued})`),
    db
      .select({ count })
      .from(sql`(${scheduledEndpoints} select coalesce(sum(${due}), 0) as count from ${dueEndpoints(now)})`),
    db
      .select({ state: webhookEndpoints.state, count: sql<number>`count(*)` })
      .from(webhookEndpoints)
      .where(ne(webhookEndpoints.state, 'deleted'))
      .groupBy(webhookEndpoints.state),
  ])
  return { queued: queued[0]!.count, due: deliveries[0]!.count, endpoints }
}

const seconds = (time: string | null): Sample[] => (time === null ? [] : [[Date.parse(time) / 1000]])

/**
 * Returns the metrics as text. If the database fails, the metrics that it would have provided are missing, and `tonearm_failing{part="database"}` is
 * 1.
 */
export async function readMetrics(context: Pick<Context, 'env' | 'db' | 'now'>): Promise<string> {
  const { failing, database, transcoder, jobs, failures, last_sweep_at, last_sweep, listening, last_event_at } =
    await readSystem(context, PERIOD)
  const queues = database.answers
    ? await readQueues(context.db, context.now).catch((error: unknown) => {
        log('error', 'database_silent', { error: describeError(error) })
      })
    : undefined
  return render({
    failing: SystemPart.options.map((part) => [failing.includes(part) ? 1 : 0, { part }]),
    database_latency_seconds: database.milliseconds === null ? [] : [[database.milliseconds / 1000]],
    database_size_bytes: database.bytes === null ? [] : [[database.bytes]],
    database_limit_bytes: [[database.limit]],
    jobs: jobs.map(({ kind, state, count }) => [count, { kind, state }]),
    job_oldest_age_seconds: jobs.flatMap(({ kind, oldest_age }): Sample[] =>
      oldest_age === null ? [] : [[oldest_age, { kind }]],
    ),
    failures: failures.map(({ code, count }) => [count, { code }]),
    retryable_failures: failures.map(({ code, retryable }) => [retryable, { code }]),
    transcode_queued: queues ? [[queues.queued]] : [],
    transcode_slots: [[transcoder.slots]],
    transcode_slots_busy: database.answers ? [[transcoder.busy]] : [],
    webhook_deliveries_due: queues ? [[queues.due]] : [],
    webhook_endpoints: queues?.endpoints.map(({ state, count }) => [count, { state }]) ?? [],
    last_sweep_timestamp_seconds: seconds(last_sweep_at),
    last_sweep_queries: last_sweep ? [[last_sweep.queries]] : [],
    last_sweep_left: last_sweep ? [[last_sweep.left.length]] : [],
    last_sweep_failed: last_sweep ? [[last_sweep.failed.length]] : [],
    listening_largest_bytes: listening.largest ? [[listening.largest.bytes]] : [],
    listening_limit_bytes: [[LISTENING_LIMIT]],
    last_upload_event_timestamp_seconds: seconds(last_event_at),
  })
}
