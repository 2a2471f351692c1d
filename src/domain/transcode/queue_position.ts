import { and, eq, sql } from 'drizzle-orm'

import { jobs } from '../../adapters/db/schema/work.ts'
import { instances } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import { isQueued } from './queue.ts'
import { IMPORT_CLASS } from './slots.ts'

/** Approximate number of bytes that a transcoder processes per second, for a mix of songs and speech, compressed and uncompressed. */
const BYTES_PER_SECOND = 1_000_000
/** The bytes that count for a second of audio if the transcoder knows the length of a source: those of MP3 at 128 kbit/s. */
const BYTES_PER_AUDIO_SECOND = 16_000
/** The bytes that count for an import, whose size is not known. */
const IMPORT_BYTES = 4_000_000
/** Maximum number of jobs that are counted in each size class. */
const MAX_COUNTED = 200

/** Returns how many jobs are ahead of a job and about how many seconds it has to wait; null when the job is not waiting. */
export async function queuePosition({ db, env }: System, job_id: string) {
  const [job] = await db
    .select({ rank: jobs.rank, size_class: jobs.size_class })
    .from(jobs)
    .where(and(eq(jobs.id, job_id), isQueued))
  if (!job) return null
  const bytes = sql`max(coalesce(payload ->> 'source_size', ${IMPORT_BYTES}), coalesce(payload ->> 'seconds', 0) * ${BYTES_PER_AUDIO_SECOND})`
  const jobsAhead = (size_class: number) => sql`select * from (select 1 as is_before, ${bytes} as bytes from jobs
    where ${isQueued} and size_class = ${size_class} and rank < ${job.rank} limit ${MAX_COUNTED})`
  // Jobs of larger size classes do not delay this job, because they use other slots. Imports delay only each other.
  const isImport = job.size_class === IMPORT_CLASS
  const classes = isImport ? [IMPORT_CLASS] : Array.from({ length: job.size_class + 1 }, (_, size_class) => size_class)
  const queuedAhead = sql.join(classes.map(jobsAhead), sql` union all `)
  const running = sql`select 0 as is_before, ${bytes} / 2 as bytes from jobs
    where slot is not null and (size_class = ${IMPORT_CLASS}) = ${isImport ? 1 : 0}`
  const [ahead] = await db
    .select({
      before: sql<number>`coalesce(sum(is_before), 0)`.as('before'),
      bytes: sql<number>`total(bytes)`.as('bytes'),
    })
    .from(sql`(${queuedAhead} union all ${running})`)
  if (!ahead) return null
  return { before: ahead.before, seconds: Math.ceil(ahead.bytes / BYTES_PER_SECOND / instances(env)) }
}
