/** Whether what was begun is still wanted. */
export type Current = () => boolean

export type Turns = ReturnType<typeof createTurns>

/** Tells a late answer to an earlier wish from one to the wish of now: each turn ends the one before, and the signal ends them all. */
export function createTurns(signal: AbortSignal) {
  let turns = 0
  const now = (): Current => {
    const turn = turns
    return () => turn === turns && !signal.aborted
  }
  return {
    now,
    next(): Current {
      turns++
      return now()
    },
  }
}
