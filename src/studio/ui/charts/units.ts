/** The units of axes, without the library of the axes. */

/** Returns the unit in which a time in seconds is round: hours, minutes or seconds. */
export const timeUnit = (most: number) => (most > 7200 ? 3600 : most > 120 ? 60 : 1)

/** Returns the unit in which a number of bytes is round. */
export const byteUnit = (most: number) => 1000 ** Math.floor(Math.log10(Math.max(1, most)) / 3)

/** Maximum number of times below the waveform, and the distances between them in seconds. */
const TIMES = 8
const DISTANCES = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]
/** Returns the times below a track. */
export function timesOf(duration: number): number[] {
  const every = DISTANCES.find((seconds) => duration / seconds <= TIMES) ?? Math.ceil(duration / TIMES / 3600) * 3600
  return Array.from({ length: Math.floor(duration / every) + 1 }, (_, at) => at * every)
}
