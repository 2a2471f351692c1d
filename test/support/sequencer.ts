import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, many because they wait: they begin first. */
const LONG = [
  'worker/fuzz',
  'worker/contract',
  'worker/rows_deep',
  'worker/failpoints',
  'worker/faults',
  'e2e/player_session',
  'e2e/heal',
  'e2e/deploy',
  'e2e/uploader_parts',
  'e2e/player_early',
  'e2e/restart',
  'e2e/chaos',
  'container/transfer',
  'container/files',
  'container/jobs',
]

/** What takes longest begins first. Files of a project stand in a row, because only then do they share their processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(specifications)
    const long = LONG.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.includes(`/${name}.`)))
    const all = [...new Set([...long, ...sorted])]
    const of = (...names: string[]) => all.filter(({ project }) => names.includes(project.name))
    return [...of('worker'), ...of('e2e'), ...of('container'), ...of('contract', 'browser')]
  }
}
