import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that mostly wait for the end of a session or idle: two of them start, and leave the cores to the longest Worker files. */
const FIRST = ['e2e/player_session', 'e2e/player_early', 'worker/fuzz', 'worker/contract', 'worker/rows_deep']

/** The longest files of other projects, or those that mostly wait. */
const LONG = [
  'e2e/restart',
  'e2e/heal',
  'e2e/chaos',
  'e2e/deploy',
  'container/transfer',
  'container/files',
  'container/jobs',
]

/**
 * Keeps the cores busy: files that wait start first, alongside the Worker's, which never wait. Files of a project are consecutive, because
 * only then do they share their processes.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
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
