import { fill, fillNumber, type Plural } from '../elements/texts/texts.ts'

/**
 * The texts of the studio. Code contains them in English, and `t` returns the translation. A language is a table from the English text to its
 * translation.
 */

/** A translation. A text with a number `{n}` has one for each plural category of the language. */
export type Texts = Record<string, string | Plural>

let locale = 'en'
let texts: Texts = {}

export function setTexts(language: string, translations: Texts): void {
  locale = language
  texts = translations
}

/** The locale of texts, numbers and dates. */
export const localeOf = () => locale

/** Marks an English text that `t` translates later, where a constant contains it. */
export const text = (english: string) => english

/** Returns a text in the language of the studio. `{name}` in it is replaced with the value of that name. */
export function t(english: string, values: Record<string, string | number> = {}): string {
  const translated = texts[english]
  return fill(typeof translated === 'string' ? translated : english, values)
}

/** Returns a text with the number `n`, which `{n}` stands for: `tn({ one: '{n} track', other: '{n} tracks' }, 2)`. */
export function tn(
  english: { one: string; other: string },
  n: number,
  values: Record<string, string | number> = {},
): string {
  const translated = texts[english.other]
  return fillNumber(typeof translated === 'object' ? translated : english, n, locale, values)
}
