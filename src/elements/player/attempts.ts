/** Counts what goes wrong with the files of one track: after a second failure without progress it is the next file's turn. */
export function createAttempts() {
  let skipped = 0
  let failures = 0
  let failedAt = 0
  return {
    /** How many of the track's files have been given up. */
    skipped: () => skipped,
    reset() {
      skipped = failures = 0
    },
    /** A file that plays on for a second has nothing wrong with it; what fails later is another matter. */
    progress(position: number) {
      if (position > failedAt + 1) failures = 0
    },
    fail(position: number) {
      failedAt = position
      failures++
      if (failures < 2) return
      failures = 0
      skipped++
    },
  }
}
