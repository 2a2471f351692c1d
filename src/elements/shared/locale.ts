/** The language to speak: the first of the wishes that is a language tag. */
export function pickLocale(...wishes: (string | null | undefined)[]): string {
  for (const wish of wishes) {
    try {
      const [tag] = wish ? Intl.getCanonicalLocales(wish) : []
      if (tag) return tag
    } catch {
      // Not a language tag, as `en_US`.
    }
  }
  return 'en'
}
