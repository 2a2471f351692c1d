/**
 * How the search reads texts: without case, accents and compatibility forms, in every script. FTS5's own tokenizer (unicode61) does that for
 * Latin letters only, and SQLite has no function for the others. So rows hold the folded text where it differs (docs/decisions/0064).
 */

const EMOJI = /(?![©®™])\p{Extended_Pictographic}|\p{Regional_Indicator}/gu
const RUN = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu
/** Accents, the points of Hebrew and Arabic, variation selectors, tatweel and format characters. The vowel signs of Indic scripts and of kana stay. */
const DROPPED =
  /[\p{Cf}\u0640]|(?!\u3099|\u309a)(?=\p{M})[\p{Script=Inherited}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}]/gu
/** Letters of scripts that put no spaces between words: each is a word. */
const UNSPACED =
  /(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
/** Letters that have no decomposition. */
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

/** A private character that stands for an emoji: the tokenizer takes it for a letter. */
const emojiWord = (emoji: string) => ` ${String.fromCodePoint(0xf0000 + (emoji.codePointAt(0)! & 0xffff))} `

/** NFC composes Hangul again. Upper case between two lower ones makes `ss` of `ß` and `i` of `ı`. */
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

/** A text as the search compares it. */
export const fold = (text: string): string => text.replace(EMOJI, emojiWord).replace(RUN, foldRun)

/** Letters that unicode61 folds as `fold` does. */
const LATIN = /[A-Z\u00c0-\u01dc\u01f8-\u024f\u1e00-\u1eff]/g
const CAPITAL = /[\u0391-\u03a9\u0400-\u042f]/g
const tokenized = (text: string) =>
  text
    .replace(LATIN, (letter) => letter.normalize('NFD')[0]!.toLowerCase())
    .replace(CAPITAL, (letter) => letter.toLowerCase())

/** The folded text where unicode61 would not make the same words of the text itself; else null. */
export function folded(text: string): string | null {
  const own = fold(text)
  return own === tokenized(text) ? null : own
}

const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Cf}\p{Co}]*/gu

/** The words of a query, folded: letters, digits and emoji. Neither operators nor signs are words. */
export const wordsOf = (q: string): string[] =>
  (q.replace(EMOJI, emojiWord).match(WORD) ?? [])
    .map((word) => fold(word).trim())
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word))
