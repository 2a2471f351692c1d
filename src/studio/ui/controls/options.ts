/** The options of a list, as their values and names. */
export type Options = readonly (readonly [value: string, label: string])[]

/** An option with the name of its group, which is empty without one. */
export interface Option {
  value: string
  label: string
  group: string
}

/** Returns a text in lower case without accents, so that "etude" finds "Étude". */
const plain = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()

/** Returns whether a name contains each of the words. */
export const matches = (label: string, words: string): boolean =>
  plain(words)
    .split(/\s+/)
    .every((word) => plain(label).includes(word))

/** Returns the position of the next option that starts with some letters, or -1. The same letter again leads to the next option with it. */
export function startingWith(options: readonly Option[], typed: string, from: number): number {
  const isRepeated = typed.replaceAll(typed[0]!, '') === ''
  const letters = plain(isRepeated ? typed[0]! : typed)
  const first = from + (isRepeated ? 1 : 0)
  for (let n = 0; n < options.length; n++) {
    const at = (Math.max(0, first) + n) % options.length
    if (plain(options[at]!.label).startsWith(letters)) return at
  }
  return -1
}

/** Returns the position to which a key leads, or null if it does not move. In a field, Home and End move the cursor instead. */
export function step(key: string, at: number, count: number, hasEnds: boolean): number | null {
  if (key === 'ArrowDown') return Math.min(at + 1, count - 1)
  if (key === 'ArrowUp') return Math.max(at - 1, 0)
  if (key === 'PageDown') return Math.min(at + 8, count - 1)
  if (key === 'PageUp') return Math.max(at - 8, 0)
  if (hasEnds && key === 'Home') return 0
  if (hasEnds && key === 'End') return count - 1
  return null
}

/** Returns options with their positions, by the names of their groups. */
export const groupsOf = (options: readonly Option[]) => [
  ...Map.groupBy(
    options.map((option, index) => [option, index] as const),
    ([{ group }]) => group,
  ),
]
