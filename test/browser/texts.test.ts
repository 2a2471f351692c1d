import { expect, test } from 'vitest'

import { playerTexts } from '../../src/elements/texts/player.ts'
import { fill, fillNumber, pickLocale, textsFor } from '../../src/elements/texts/texts.ts'
import { uploaderTexts } from '../../src/elements/texts/uploader.ts'

/** What the elements say, in every language. */

/** Every text, by its path; of sentences about a number the one that every language has. */
const flat = (texts: object, path = ''): Record<string, string> =>
  Object.assign(
    {},
    ...Object.entries(texts).map(([key, text]: [string, string | object]) =>
      typeof text === 'string'
        ? { [path + key]: text }
        : 'other' in text
          ? flat({ [key]: text.other }, path)
          : flat(text, `${path}${key}.`),
    ),
  )
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted()

test.each(Object.entries({ player: playerTexts, uploader: uploaderTexts }))(
  'every language says everything, %s',
  (_, all) => {
    const english = flat(all.en)
    expect(Object.keys(all)).toEqual(['en', 'de', 'fr', 'es', 'ja', 'ar'])
    for (const [locale, texts] of Object.entries(all)) {
      const own = flat(texts)
      expect(Object.keys(own), locale).toEqual(Object.keys(english))
      for (const [path, text] of Object.entries(own)) {
        expect(text.trim(), `${locale} ${path}`).not.toBe('')
        expect(placeholders(text), `${locale} ${path}`).toEqual(placeholders(english[path]!))
      }
      const same = Object.keys(own).filter((path) => own[path] === english[path])
      if (locale !== 'en') expect(same.length, `${locale}: ${same.join()}`).toBeLessThan(Object.keys(own).length / 4)
    }
  },
)

test('a language that is not here is English, and what the page gives goes first', () => {
  expect(textsFor(playerTexts, 'xx')).toEqual(playerTexts.en)
  expect(textsFor(playerTexts, 'de-AT', { play: 'Los', errors: { not_found: 'Weg' } })).toEqual({
    ...playerTexts.de,
    play: 'Los',
    errors: { ...playerTexts.de.errors, not_found: 'Weg' },
  })
})

test('the first that is a language is spoken', () => {
  expect([pickLocale(null, 'en_US', 'de-ch', 'fr'), pickLocale('', undefined)]).toEqual(['de-CH', 'en'])
})

test('texts are filled in', () =>
  expect(fill('{time} of {duration}, {else}', { time: '1', duration: 2 })).toBe('1 of 2, {else}'))

test('a number has the form that its language wants', () => {
  const said = (locale: 'en' | 'ja' | 'ar', n: number) => fillNumber(uploaderTexts[locale].added, n, locale)
  expect([said('en', 1), said('en', 2000), said('ja', 1)]).toEqual([
    '1 file added',
    '2,000 files added',
    '1個のファイルを追加しました',
  ])
  expect(new Set([1, 2, 3, 11, 100].map((n) => said('ar', n).replace(/\P{L}/gu, ''))).size).toBe(5)
})
