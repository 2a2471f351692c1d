/** Lets a few pieces of work run at once; the others wait, and the newest goes first: it is what is being looked at. */
export function createTurns(atOnce: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.pop()?.()
    }
  }
}
