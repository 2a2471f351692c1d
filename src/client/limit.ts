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

/** Whether what was begun is still wanted. */
export type IsCurrent = () => boolean

/** Tells a late answer to an earlier request from one to the latest: each `next` ends the one before, and the signal ends them all. */
export class Latest {
  readonly #signal: AbortSignal
  #count = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  current(): IsCurrent {
    const count = this.#count
    return () => count === this.#count && !this.#signal.aborted
  }

  next(): IsCurrent {
    this.#count++
    return this.current()
  }
}
