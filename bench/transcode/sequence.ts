import { join } from 'node:path'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { type Run, withContestant } from './contestant.ts'

const ENTRY = join(import.meta.dirname, 'sequence_process.ts')

/**
 * CPU seconds of each process that produced a single variant, and of a process that only decoded. They include the time in which this
 * program reads the PCM.
 */
export type Costs = { variants: Record<string, number>; decoding: number }

/** Runs a job as a sequence of one process per variant. */
export function runSequence(job: TranscodeJob, signal: AbortSignal): Promise<{ run: Run; costs: Costs }> {
  return withContestant(ENTRY, signal, async ({ line, measure, write }) => {
    await line()
    const run = await measure(async () => {
      write(JSON.stringify(job))
      await line()
    })
    return { run, costs: (await line()) as Costs }
  })
}
