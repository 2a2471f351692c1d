/** Returns a generator of pseudo-random numbers that are the same on every run (mulberry32). */
export function randomFrom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns random colors as `#rrggbb`, which are the same on every run. */
export function randomColors(count: number): string[] {
  const random = randomFrom(5)
  const aColor = () => Math.floor(random() * 0x1000000)
  return Array.from({ length: count }, () => `#${aColor().toString(16).padStart(6, '0')}`)
}
