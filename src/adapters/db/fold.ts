/**
 * Folds text for the search: removes case, accents and compatibility forms, in every script. FTS5's tokenizer (unicode61) folds only Latin letters,
 * and SQLite has no function for other scripts. A row therefore also stores the folded text if it differs (docs/decisions/0064).
 */

const EMOJI = /(?![©®™])\p{Extended_Pictographic}|\p{Regional_Indicator}/gu
const RUN = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu
/**
 * Characters that are removed: accents, the points of Hebrew and Arabic, variation selectors, tatweel and format characters. The vowel signs of Indic
 * scripts and the voicing marks of kana are kept.
 */
const DROPPED =
  /[\p{Cf}\u0640]|(?!\u3099|\u309a)(?=\p{M})[\p{Script=Inherited}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}]/gu
/** Letters of scripts that have no spaces between words. Each letter becomes a separate word. */
const UNSPACED =
  /(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
/** Letters that Unicode does not decompose, with their replacements. */
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

/** Replaces an emoji with a private-use character, which the tokenizer treats as a letter. */
const emojiWord = (emoji: string) => ` ${String.fromCodePoint(0xf0000 + (emoji.codePointAt(0)! & 0xffff))} `

/** NFC recomposes Hangul. The conversion to upper case between two conversions to lower case turns `ß` into `ss` and `ı` into `i`. */
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

/** Returns the folded form of a text, which the search compares. */
export const fold = (text: string): string => text.replace(EMOJI, emojiWord).replace(RUN, foldRun)

/** Letters that unicode61 folds in the same way as `fold`. */
const LATIN = /[A-Z\u00c0-\u01dc\u01f8-\u024f\u1e00-\u1eff]/g
const CAPITAL = /[\u0391-\u03a9\u0400-\u042f]/g
const tokenized = (text: string) =>
  text
    .replace(LATIN, (letter) => letter.normalize('NFD')[0]!.toLowerCase())
    .replace(CAPITAL, (letter) => letter.toLowerCase())

/** Returns the folded text if unicode61 would index the original differently; otherwise null. */
export function folded(text: string): string | null {
  const foldedText = fold(text)
  return foldedText === tokenized(text) ? null : foldedText
}

const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Cf}\p{Co}]*/gu

/** Returns the code points of a word. */
export const lettersOf = (word: string): string[] => Array.from(word)

/** Returns the words of a text, each folded and as it is written: letters, digits and emoji. Operators and punctuation are ignored. */
export const spelledWords = (text: string): [folded: string, spelled: string][] =>
  (text.replace(EMOJI, emojiWord).match(WORD) ?? [])
    .map((word): [string, string] => [fold(word).trim(), word])
    .filter(([word]) => /[\p{L}\p{N}\p{Co}]/u.test(word))

/** Returns the folded words of a query. */
export const wordsOf = (q: string): string[] => spelledWords(q).map(([word]) => word)

/** Replaces words of a query, given as they are written. */
export const replaceWords = (q: string, replacements: Map<string, string>): string =>
  q.replace(WORD, (word) => replacements.get(word) ?? word)
