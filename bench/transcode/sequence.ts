import { join } from 'node:path'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { type Run, withContestant } from './contestant.ts'

const ENTRY = join(import.meta.dirname, 'sequence_process.ts')

/** CPU seconds, including our reading of PCM, of each process that made a single variant, and of one that only decoded. */
export type Costs = { variants: Record<string, number>; decoding: number }

/** Runs the same job as one process per variant, in sequence. */
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
