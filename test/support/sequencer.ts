import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that mostly wait, for the end of a session, a restart, a silent storage. Others use the cores meanwhile. */
const WAITING = [
  'e2e/player_session',
  'e2e/player_early',
  'e2e/restart',
  'container/transfer',
  'container/jobs',
  'e2e/studio_states',
  'container/upload',
]

/**
 * Files that wait begin first. Then e2e, whose tracks are processed one after the other, and container take turns. The Worker's come
 * last, in a row, because only then do they share their runtimes.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(specifications)
    const waits = ({ moduleId }: TestSpecification) => WAITING.findIndex((name) => moduleId.includes(`/${name}.`))
    const first = sorted.filter((file) => waits(file) >= 0).toSorted((a, b) => waits(a) - waits(b))
    const rest = sorted.filter((file) => waits(file) < 0)
    const of = (...names: string[]) => rest.filter(({ project }) => names.includes(project.name))
    return [...first, ...alternate(of('e2e'), of('container')), ...of('contract', 'worker')]
  }
}

/** Both lists as one, in which each is spread evenly. */
function alternate<T>(some: T[], others: T[]): T[] {
  const placed = [some, others].flatMap((list) => list.map((item, at) => ({ item, place: (at + 0.5) / list.length })))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
