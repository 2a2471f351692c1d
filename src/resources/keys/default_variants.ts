import { DEFAULT_VARIANTS } from '../../contract/facts.ts'

/** Returns the variants of a session that names none. `granted` are those that its key allows; null for all. */
export function defaultVariants(granted: string[] | null): string[] {
  if (!granted) return DEFAULT_VARIANTS
  const allowed = DEFAULT_VARIANTS.filter((index) => granted.includes(index))
  return allowed.length > 0 ? allowed : granted
}
