/**
 * Decodes levels (levels.ts) from hexadecimal text, which SQL's `hex()` returns. Five digits hold two levels. The function has its own file because a
 * new isolate loads it when it starts (docs/decisions/0029).
 */
export function hexLevels(hex: string | null): number[] {
  const levels: number[] = []
  if (hex === null) return levels
  const padded = hex.padEnd(Math.ceil(hex.length / 5) * 5, '0')
  for (let at = 0; at < padded.length; at += 5) {
    const pair = Number.parseInt(padded.slice(at, at + 5), 16)
    levels.push((pair >> 10) / 1000, (pair & 1023) / 1000)
  }
  levels.length = Math.floor(hex.length / 2.5)
  return levels
}
