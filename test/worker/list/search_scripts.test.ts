import { expect, it } from 'vitest'

import { ok } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'

/** Titles in many scripts, each with the queries that find it. */
const FOUND: Record<string, string[]> = {
  Αθήνα: ['αθηνα', 'ΑΘΗΝΑ', 'Αθήνα', 'Αθήνα'.normalize('NFD')],
  ΑΘΗΝΑ: ['αθηνα', 'αθήνα'],
  'Μίκης Θεοδωράκης': ['θεοδωρακης', 'ΘΕΟΔΩΡΑΚΗΣ', 'θεοδωράκης', 'μικησ'],
  'Ελλάδα Σίσυφος': ['ελλαδα', 'σισυφος', 'ΣΙΣΥΦΟΣ'],
  Ёжик: ['ежик', 'ёжик', 'ЁЖИК'],
  'Привет Ёлка': ['елка', 'ПРИВЕТ'],
  'Иосиф Кобзон й': ['иосиф', 'й'],
  שָׁלוֹם: ['שלום', 'שָׁלוֹם'],
  'שלום עולם': ['שלום', 'שָׁלוֹם', 'עולם'],
  مُحَمَّد: ['محمد', 'مُحَمَّد'],
  'مرحبا بالعالم': ['مرحبا', 'مَرْحَبًا', 'بالعالم'],
  مَرْحَبًا: ['مرحبا'],
  'أحمـــد می\u200cخواهم': ['احمد', 'أحمد', 'میخواهم', 'می\u200cخواهم'],
  'Đorđe Łódź': ['dorde', 'lodz', 'đorđe', 'ŁÓDŹ'],
  'Øystein Þór': ['oystein', 'øystein', 'thor'],
  ŒUVRE: ['oeuvre', 'œuvre'],
  ＡＢＣ: ['abc', 'ＡＢ'],
  Ｆｕｌｌ: ['full'],
  ﬀ: ['ff', 'FF'],
  ﬁsh: ['fish', 'FISH'],
  'Straße über Größe': ['strasse', 'straße', 'STRASSE', 'STRAẞE', 'uber', 'grosse'],
  'İstanbul ışık': ['istanbul', 'ISTANBUL', 'İSTANBUL', 'isik', 'IŞIK'],
  ISPARTA: ['isparta', 'ısparta'],
  '① Ⅳ': ['1', 'iv'],
  Café: ['cafe', 'CAFÉ', 'Café'.normalize('NFD')],
  'Cafe\u0301 NFD': ['cafe', 'café nfd'],
  Ångström: ['angstrom'],
  naïve: ['NAIVE'],
  'Việt Nam': ['viet', 'VIỆT'],
  ñandú: ['nandu'],
  '한국어 노래': ['한국', '노래', '노래'.normalize('NFD')],
  [`${'한글'.normalize('NFD')} NFD`]: ['한글'],
  '東京の夜 散歩': ['東京', '東', '夜', 'の夜', '散歩', '東京の夜'],
  東京タワー: ['タワー', 'ﾀﾜｰ', '京タワ'],
  สวัสดีชาวโลก: ['สวัสดี', 'ชาวโลก'],
  '१२३ हिन्दी': ['हिन्दी', 'हिन', '१२३'],
  '🎵 Song 🎧': ['🎵', '🎧', '🎧 song'],
  'Love ❤️ 👩🏽‍🎤 🇫🇷': ['❤️', '❤', '👩‍🎤', '🇫🇷', 'love❤'],
  𞤀𞤣𞤤𞤢𞤥: ['𞤢𞤣𞤤'],
  𐓏𐒰𐓓𐒰𐓓𐒷: ['𐓷𐓘𐓻𐓘'],
  ᏣᎳᎩ: ['ꮳꮃꭹ'],
  'l’amour': ['amour', "l'amour"],
  "rock'n'roll": ['rock', "rock'n", 'roll'],
  'AC/DC': ['ac/dc', 'ac dc'],
  'C++': ['c++'],
  '50% off': ['50%'],
  foo_bar: ['foo_bar', 'foo', 'bar'],
  'snake-case': ['snake-case'],
  '"quoted"': ['"quoted"', 'quoted'],
  '1,000.5': ['1,000'],
  'a*b': ['a*b'],
  'NEAR(x)': ['NEAR(x)'],
  'AND OR NOT': ['AND', 'or'],
  '^caret': ['^caret'],
  'col:val': ['col:val'],
}
/** Queries that find nothing: they have no letter, digit or emoji, or contain a word that no title has. */
const NOT_FOUND = ['*', '"', "'", '  ', '(', '-', '()', '→', '…', 'ueber', 'acdc', '1000', 'ドア', 'カワ', '京東', '🎸']

it('a search finds titles in any script, regardless of case, accents and normalization form', async () => {
  const { key } = await aTenant()
  const titlesFor = async (q: string): Promise<string[]> => {
    const { collections } = await ok('GET', `/v1/collection?limit=200&q=${encodeURIComponent(q)}`, { key })
    return collections.map((row) => row.title)
  }
  for (const title of Object.keys(FOUND)) await ok('POST', '/v1/collection', { key, body: { title } })
  const missed: [string, string][] = []
  for (const [title, queries] of Object.entries(FOUND))
    for (const q of queries) if (!(await titlesFor(q)).includes(title)) missed.push([title, q])
  expect(missed).toEqual([])
  for (const q of NOT_FOUND) expect([q, await titlesFor(q)]).toEqual([q, []])
})
