import { readdirSync, readFileSync } from 'node:fs'

/** Fraction of a core that busy processes use or wait for at least. Idle ones of `wrangler dev` stay below a hundredth. */
const BUSY = 0.1

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process or thread has ended, or this is not Linux.
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Returns a process and all its descendants. */
function treeOf(root: string): string[] {
  const children = new Map<string, string[]>()
  for (const pid of list('/proc')) {
    const stat = read(`/proc/${pid}/stat`)
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? ''
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Returns the seconds that each thread of a process and its descendants has run or waited for a core (proc(5), schedstat). */
function secondsOf(pid: number): Map<string, number> {
  const threads = treeOf(String(pid)).flatMap((each) =>
    list(`/proc/${each}/task`).map((id) => `/proc/${each}/task/${id}`),
  )
  return new Map(
    threads.map((thread) => {
      const [running = 0, waiting = 0] = read(`${thread}/schedstat`).split(' ').map(Number)
      return [thread, (running + waiting) / 1e9]
    }),
  )
}

/**
 * Returns a function that returns whether a process and its descendants have worked since its last call. A process that other programs keep from working counts
 * as busy. Only on Linux; elsewhere, the answer is always false.
 */
export function watchBusy(pid: number): () => boolean {
  let before = { seconds: secondsOf(pid), at: performance.now() }
  return () => {
    const now = { seconds: secondsOf(pid), at: performance.now() }
    // A thread that has ended is left out: its time would be missing in the sum.
    const worked = [...now.seconds].map(([thread, seconds]) => seconds - (before.seconds.get(thread) ?? 0))
    const isBusy = worked.reduce((sum, seconds) => sum + seconds, 0) > (BUSY * (now.at - before.at)) / 1000
    before = now
    return isBusy
  }
}
