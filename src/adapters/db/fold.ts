/**
 * Folds text for the search: removes case, accents and compatibility forms, in every script. FTS5's tokenizer (unicode61) does so for Latin letters
 * only, and SQLite has no function for the others. So a row stores the folded text if it differs (docs/decisions/0064).
 */

const EMOJI = /(?![©®™])\p{Extended_Pictographic}|\p{Regional_Indicator}/gu
const RUN = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu
/**
 * Accents, the points of Hebrew and Arabic, variation selectors, tatweel and format characters. The vowel signs of Indic scripts and the voicing
 * marks of kana stay.
 */
const DROPPED =
  /[\p{Cf}\u0640]|(?!\u3099|\u309a)(?=\p{M})[\p{Script=Inherited}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}]/gu
/** Letters of scripts without spaces between words: each becomes a word. */
const UNSPACED =
  /(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
/** Letters without a decomposition. */
const BASE: Record<string, string> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ς: 'σ',
}
const BASED = new RegExp(`[${Object.keys(BASE).join('')}]`, 'g')

/** Replaces an emoji by a private-use character, which the tokenizer treats as a letter. */
const emojiWord = (emoji: string) => ` ${String.fromCodePoint(0xf0000 + (emoji.codePointAt(0)! & 0xffff))} `

/** NFC recomposes Hangul. Upper case between two lower-case steps turns `ß` into `ss` and `ı` into `i`. */
const foldRun = (run: string) =>
  run
    .normalize('NFKD')
    .replace(DROPPED, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(BASED, (letter) => BASE[letter]!)
    .normalize('NFC')
    .replace(UNSPACED, ' $& ')

/** The folded form of a text, which the search compares. */
export const fold = (text: string): string => text.replace(EMOJI, emojiWord).replace(RUN, foldRun)

/** Letters that unicode61 folds in the same way as `fold`. */
const LATIN = /[A-Z\u00c0-\u01dc\u01f8-\u024f\u1e00-\u1eff]/g
const CAPITAL = /[\u0391-\u03a9\u0400-\u042f]/g
const tokenized = (text: string) =>
  text
    .replace(LATIN, (letter) => letter.normalize('NFD')[0]!.toLowerCase())
    .replace(CAPITAL, (letter) => letter.toLowerCase())

/** The folded text if unicode61 would split the original into other words; else null. */
export function folded(text: string): string | null {
  const foldedText = fold(text)
  return foldedText === tokenized(text) ? null : foldedText
}

const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Cf}\p{Co}]*/gu

/** The folded words of a query: letters, digits and emoji. Operators and punctuation are ignored. */
export const wordsOf = (q: string): string[] =>
  (q.replace(EMOJI, emojiWord).match(WORD) ?? [])
    .map((word) => fold(word).trim())
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word))
