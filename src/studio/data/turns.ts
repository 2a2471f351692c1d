/** Returns a function that runs a few tasks at a time. The newest task that waits runs first, because its row is in view. */
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
