/** Suggestions for names and paths that do not exist. */

/** The number of insertions, deletions, replacements and swaps of neighbors that change one text into another. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      const least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + cost)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(isSwapped ? Math.min(least, rows[i - 2]![j - 2]! + 1) : least)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** Names above this length are not compared: the caller chooses them, and the time grows with the square of their length. */
const MAX_LENGTH = 64

/** How different two names may be: a third of the name's length, so that short names are not confused. */
const tolerance = (name: string) => Math.min(3, Math.floor(name.length / 3))

/** Ignores case and the style of the name: `fileName` is `file_name`. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Returns the known name that a caller probably meant, or null: one with other separators, one with `_id`, or one with a typo. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null
  const written = plain(name)
  const same = known.find((each) => plain(each) === written) ?? known.find((each) => plain(each) === `${written}id`)
  if (same) return same
  const [best] = known
    .map((each) => ({ each, cost: distance(written, plain(each)) }))
    .toSorted((a, b) => a.cost - b.cost)
  return best && best.cost <= tolerance(written) ? best.each : null
}

/** Returns the path of an operation that a caller probably meant, or null. A parameter of a path matches any text. */
export function nearestPath(pathname: string, known: readonly string[]): string | null {
  const segments = pathname.split('/').filter(Boolean)
  if (segments.length > 8 || pathname.length > 400) return null
  let [best, lowest] = [null as string | null, Infinity]
  for (const path of known) {
    const parts = path.split('/').filter(Boolean)
    if (parts.length !== segments.length) continue
    const costs = parts.map((part, index) => {
      const segment = segments[index]!
      // A fixed segment is preferred to a parameter.
      if (part.startsWith('{')) return 0.1
      if (segment.length > MAX_LENGTH) return Infinity
      const cost = distance(segment.toLowerCase(), part)
      return cost <= Math.max(1, tolerance(part)) ? cost : Infinity
    })
    const cost = costs.reduce((sum, each) => sum + each, 0)
    if (cost < lowest) [best, lowest] = [path, cost]
  }
  return best
}
