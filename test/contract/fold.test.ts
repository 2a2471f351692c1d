import { DatabaseSync } from 'node:sqlite'

import { expect, it } from 'vitest'

import { fold, folded, wordsOf } from '../../src/adapters/db/fold.ts'

/** The words into which SQLite's tokenizer splits each text, joined with spaces. */
function tokenized(texts: string[]): string[] {
  const db = new DatabaseSync(':memory:')
  db.exec(`create virtual table texts using fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
    create virtual table words using fts5vocab(texts, instance); begin`)
  const insert = db.prepare('insert into texts (rowid, text) values (?, ?)')
  for (const [at, text] of texts.entries()) insert.run(at, text)
  const found = texts.map((): string[] => [])
  for (const { term, doc, offset } of db.prepare('select term, doc, offset from words').iterate())
    found[Number(doc)]![Number(offset)] = String(term)
  db.close()
  return found.map((words) => words.join(' '))
}

/** Characters that are tested inside a word: all below the CJK ideographs, and blocks with letter case, presentation forms, styles, and emoji. */
const BLOCKS = [
  [0, 0x3200],
  [0xa640, 0xac20],
  [0xf900, 0x10000],
  [0x10400, 0x10600],
  [0x1d400, 0x1d500],
  [0x1e900, 0x1e960],
  [0x1f000, 0x1fb00],
] as const
const WORDS = BLOCKS.flatMap(([from, to]) =>
  Array.from({ length: to - from }, (_, at) => `a${String.fromCodePoint(from + at)}b`),
)

it("the folded text is omitted only where SQLite's own folding produces the same words", () => {
  const texts = WORDS.filter((text) => folded(text) === null)
  const folds = tokenized(texts.map(fold))
  expect(tokenized(texts).flatMap((words, at) => (words === folds[at] ? [] : [texts[at]]))).toEqual([])
  expect(texts.length).toBeGreaterThan(10_000)
})

it('folding is idempotent and removes quotation marks', () => {
  const spaced = (text: string) => text.replace(/ +/g, ' ')
  const isWrong = (word: string) =>
    spaced(fold(fold(word))) !== spaced(fold(word)) || (word !== 'a"b' && fold(word).includes('"'))
  expect(WORDS.filter(isWrong)).toEqual([])
})

it('the folded text is omitted when there is nothing to fold', () => {
  const plain = [
    'So What',
    'Déjà Vu – “Björk”',
    'Việt Nam',
    'привет Мир',
    '한국어 노래',
    'हिन्दी',
    'שלום',
    '© 2026 Foo™',
    '',
  ]
  expect(plain.filter((text) => folded(text) !== null)).toEqual([])
  expect(['Αθήνα', 'Ёлка', 'Straße', '東京', '🎵'].map(folded)).toEqual([
    'αθηνα',
    'елка',
    'strasse',
    ' 東  京 ',
    ' \u{ff3b5} ',
  ])
})

it('a query is reduced to its words', () => {
  expect(wordsOf('"ΑΘΉΝΑ" OR STRAẞE* ½ 🎵x --')).toEqual(['αθηνα', 'or', 'strasse', '1⁄2', '\u{ff3b5}', 'x'])
  expect(wordsOf('\u0640 \u200f*\u0301')).toEqual([])
})
