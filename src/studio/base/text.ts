import { RIGHT_TO_LEFT, textDirection } from '../../contract/text.ts'
import { uploader as english } from '../../elements/texts/en.ts'
import { fill, fillNumber, type Plural, type UploaderTexts } from '../../elements/texts/texts.ts'

/**
 * The texts of the studio. Code contains them in English, and `t` returns the translation, or the English text if there is none. A language is a
 * table from the English text to its translation (docs/development/where.md#texts-of-the-studio).
 */

/** A translation. A text with a number `{n}` has one for each plural category of the language. */
export type Texts = Record<string, string | Plural>

/** A language of the studio. */
export interface Language {
  texts: Texts
  /** The texts about files that are being uploaded, which the studio shares with the uploader. */
  uploader: UploaderTexts
  /** The texts of failures, by code. In English, and for other codes, the message of the service is shown. */
  failures: Record<string, string>
}

let locale = 'en'
let texts = new Map<string, string | Plural>()
let uploader = english
let failures: Language['failures'] = {}

/** Returns a text without its punctuation. Translations are found by this form, so that a corrected comma keeps them. */
export const keyOf = (english: string) => english.replace(/[\s.,:;"'“”’–—-]+/g, ' ').trim()

export function setTexts(name: string, language: Language = { texts: {}, uploader: english, failures: {} }): void {
  // Times such as 1:05 have these digits in every language, so numbers have them as well.
  locale = `${name}-u-nu-latn`
  texts = new Map(Object.entries(language.texts).map(([english, translation]) => [keyOf(english), translation]))
  uploader = language.uploader
  failures = language.failures
}

/** Whether texts are written from right to left. */
export const isRightToLeft = () => textDirection(locale) === 'rtl'

/** The locale of texts, numbers and dates. */
export const localeOf = () => locale

/** Returns the text of a failure in the language of the studio. */
export const failureText = ({ code = '', message }: { code?: string | undefined; message: string }) =>
  failures[code] ?? message

/** The texts about files that are being uploaded. */
export const uploaderTexts = () => uploader

type Values = Record<string, string | number>

const OF_RIGHT_TO_LEFT = new RegExp(`[${RIGHT_TO_LEFT.map((script) => `\\p{sc=${script}}`).join('')}]`, 'gu')

/**
 * Returns a text for a sentence or a list of facts. If its letters have another direction than the page, it gets isolates (U+2068, U+2069) around it,
 * like a `bdi`, so that it does not move the words and numbers next to it.
 */
export function isolated(value: string): string {
  const isForeign = isRightToLeft()
    ? /\p{L}/u.test(value.replace(OF_RIGHT_TO_LEFT, ''))
    : value.search(OF_RIGHT_TO_LEFT) >= 0
  return isForeign ? `\u2068${value}\u2069` : value
}

/** Formats the numbers of a text, and isolates the other values. */
const formatted = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' ? value.toLocaleString(locale) : isolated(value),
    ]),
  )

/** Marks an English text that `t` translates later, where a constant contains it. */
export const text = (english: string) => english

/** Returns a text in the language of the studio. `{name}` in it is replaced with the value of that name. */
export function t(english: string, values: Values = {}): string {
  const translated = texts.get(keyOf(english))
  return fill(typeof translated === 'string' ? translated : english, formatted(values))
}

/** Returns a text with the number `n`, which `{n}` stands for: `tn({ one: '{n} track', other: '{n} tracks' }, 2)`. */
export function tn(english: { one: string; other: string }, n: number, values: Values = {}): string {
  const translated = texts.get(keyOf(english.other))
  return fillNumber(typeof translated === 'object' ? translated : english, n, locale, formatted(values))
}
