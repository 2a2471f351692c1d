import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files of each project that start first: those that take longest, or mostly wait. */
const FIRST = [
  'e2e/player_session',
  'e2e/player_early',
  'worker/http/fuzz',
  'worker/http/contract',
  'worker/list/rows_deep',
]

/** The files of other projects that take longest or mostly wait. */
const LONG = ['e2e/restart', 'e2e/chaos', 'e2e/deploy', 'container/transfer', 'container/files', 'container/jobs']

/**
 * Orders the test files so that the cores are always busy: files that mostly wait start first. The Worker's files run before all others
 * (vitest.config.ts). The files of a project follow each other, because only then do they share processes.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const moved = [...FIRST, ...LONG].filter((name) => !existsSync(join(import.meta.dirname, `../${name}.test.ts`)))
    if (moved.length > 0) throw new Error(`test/support/sequencer.ts names no file: ${moved.join(', ')}`)
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(specifications)
    const named = (names: string[]) =>
      names.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.includes(`/${name}.`)))
    const first = named(FIRST)
    const rest = [...named(LONG), ...sorted].filter((file, i, all) => !first.includes(file) && all.indexOf(file) === i)
    const of = (...names: string[]) => rest.filter(({ project }) => names.includes(project.name))
    return [...first, ...of('worker'), ...of('e2e'), ...of('container'), ...of('contract', 'browser')]
  }
}
