/** Lets a few pieces of work run at once. The others wait in line; with `newestFirst` the one that came last goes next. */
export function createLimit(atOnce: number, newestFirst = false) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function limited<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever is next takes this place over, so that nobody else comes between.
      const next = newestFirst ? waiting.pop() : waiting.shift()
      if (next) next()
      else running--
    }
  }
}
