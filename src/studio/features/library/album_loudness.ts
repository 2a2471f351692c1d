interface Measured {
  duration: number
  loudness?: { integrated_lufs: number | null } | null | undefined
}

/** Returns the loudness of tracks one after the other in LUFS: the mean of their energies, weighted by their durations. Null if one is unknown. */
export function albumLoudness(rows: readonly (Measured | undefined)[]): number | null {
  let [energy, seconds] = [0, 0]
  for (const row of rows) {
    // A track that failed has no sound.
    if (row?.duration === 0) continue
    const lufs = row?.loudness?.integrated_lufs
    if (!row || typeof lufs !== 'number') return null
    energy += row.duration * 10 ** (lufs / 10)
    seconds += row.duration
  }
  return seconds > 0 ? 10 * Math.log10(energy / seconds) : null
}
