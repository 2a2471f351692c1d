import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that mostly wait, for the end of a session, a restart, a silent storage: they begin first. */
const WAITING = [
  'e2e/player_early',
  'e2e/restart',
  'e2e/heal',
  'e2e/deploy',
  'e2e/player_session',
  'container/transfer',
]

/** Of the Worker's, those that take longest. */
const LONG = ['worker/fuzz', 'worker/contract', 'worker/rows_deep']

/**
 * Keeps the cores busy: files that wait begin first, and beside them the Worker's, which never wait. Files of a project stand in a row,
 * because only then do they share their processes.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(specifications)
    const named = (names: string[]) =>
      names.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.includes(`/${name}.`)))
    const first = [...named(WAITING), ...named(LONG)]
    const rest = sorted.filter((file) => !first.includes(file))
    const of = (...names: string[]) => rest.filter(({ project }) => names.includes(project.name))
    return [...first, ...of('worker'), ...of('e2e'), ...of('container'), ...of('contract', 'browser')]
  }
}
