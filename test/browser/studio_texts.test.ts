import { expect, test } from 'vitest'

import {
  languageFiles,
  pluralNumbers,
  readTexts,
  readSource,
  renameText,
  cssFiles,
  type StudioTexts,
} from '../../scripts/shared/studio_texts.ts'
import { ERROR_MEANINGS } from '../../src/contract/errors.ts'
import { LOCALES } from '../../src/contract/facts.ts'
import { FILE_ERRORS, SERVICE_ERRORS, TRACK_ERRORS, WARNINGS } from '../../src/contract/track_errors.ts'
import type { Plural } from '../../src/elements/texts/texts.ts'
import { joined } from '../../src/studio/base/format.ts'
import { keyOf, type Language, setTexts, t, tn } from '../../src/studio/base/text.ts'
import { keyTitle } from '../../src/studio/features/sharing/sites.ts'

/** Tests the texts of the studio in every language. */

/** The languages with translations. A text that a language does not translate is shown in English. */
const LANGUAGES = languageFiles()
const load = (locale: string) => import(`../../src/studio/texts/${locale}.ts`) as Promise<Language>
const { texts: english, untranslated } = readTexts()
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted()

const NUMBERS = new Map(LANGUAGES.map((locale) => [locale, pluralNumbers(locale)]))

test('values with letters of the other direction are isolated, so that they do not move the words next to them', () => {
  setTexts('en')
  expect(t('{name} deleted', { name: 'ليلى 8' })).toBe('\u2068ليلى 8\u2069 deleted')
  expect(t('{name} deleted', { name: 'Über 8 あ' })).toBe('Über 8 あ deleted')
  expect(joined(['ليلى', false, '8 tracks'])).toBe('\u2068ليلى\u2069 · 8 tracks')
  setTexts('ar')
  expect(t('{name} deleted', { name: 'Harbor 8' })).toBe('\u2068Harbor 8\u2069 deleted')
  expect(t('{name} deleted', { name: '3:05' })).toBe('3:05 deleted')
  // The title of a key is stored, so it has no isolates.
  expect(keyTitle('https://a.example')).toBe('Player on https://a.example')
  setTexts('en')
})

/** Returns what is wrong with the translation of an English text that has a singular, or has none. */
function faultsOf(locale: string, text: string, one: string | undefined, translation: string | Plural): string[] {
  if ((typeof translation === 'object') !== (one !== undefined)) return [`needs ${one ? '' : 'no '}plural forms`]
  const forms = typeof translation === 'string' ? { other: translation } : translation
  const numbers = NUMBERS.get(locale)!
  const needed = one === undefined ? ['other'] : [...numbers.keys()]
  const missing = needed.filter((category) => !(category in forms)).map((category) => `needs ${category}`)
  const faults = Object.entries(forms).flatMap(([category, form]) => {
    const found = placeholders(form).join(' ')
    const wanted = placeholders(text)
    // The form for a single number may have a word instead of the number.
    const isWord = one !== undefined && numbers.get(category as Intl.LDMLPluralRule)?.length === 1
    const allowed = [wanted, ...(isWord ? [wanted.filter((name) => name !== '{n}')] : [])].map((names) =>
      names.join(' '),
    )
    return [
      ...(needed.includes(category) ? [] : [`never uses ${category}`]),
      ...(form.trim() === '' ? [`${category} is empty`] : []),
      ...(allowed.includes(found) ? [] : [`${category} has ${found || 'no placeholder'} instead of ${allowed[0]}`]),
    ]
  })
  return [...missing, ...faults]
}

test('every text of the studio is translated with t() or tn()', () => expect(untranslated).toEqual([]))

test.each([
  ['<p>Nothing yet</p>', 'Nothing yet'],
  ['<Field label="Title" />', 'Title'],
  ['<Field label={`Search ${name}`} />', 'Search {}'],
  ["const item = { label: 'Delete' }", 'Delete'],
  ['announce(`${title} deleted`)', '{} deleted'],
  ["announce('The link has changed')", 'The link has changed'],
])('%s contains a text that is not translated', (source, text) => {
  const found: StudioTexts = { texts: new Map(), untranslated: [] }
  readSource('page.tsx', source, found)
  expect(found.untranslated).toEqual([`page.tsx:1 ${text}`])
})

test('texts are found in t(), text() and plural forms', () => {
  const found: StudioTexts = { texts: new Map(), untranslated: [] }
  const source = `const [A, B] = [text('One'), { one: '{n} key', other: '{n} keys' }]
    const page = <p class="soft note" title={t(isOpen ? 'Open' : 'Closed')}>{t('In {n} days', { n: 2 })}</p>`
  readSource('page.tsx', source, found)
  expect([...found.texts]).toEqual([
    ['One', undefined],
    ['{n} keys', '{n} key'],
    ['Open', undefined],
    ['Closed', undefined],
    ['In {n} days', undefined],
  ])
  expect(found.untranslated).toEqual([])
})

test('every translation is of a language that can be chosen', () =>
  expect(LOCALES).toEqual(expect.arrayContaining(LANGUAGES)))

test('texts differ in more than punctuation, because their translations are found without it', () => {
  const same = Map.groupBy(english.keys(), keyOf).values()
  expect([...same].filter((texts) => texts.length > 1)).toEqual([])
})

test.each(LANGUAGES)(
  '%s translates only texts that are used, with their placeholders and plural forms',
  async (locale) => {
    const { texts } = await load(locale)
    const used = new Map([...english].map(([text, one]) => [keyOf(text), { text, one }]))
    const faults = Object.entries(texts).flatMap(([key, translation]) => {
      const found = used.get(keyOf(key))
      if (!found)
        return [
          `${key}: the code does not contain it. Remove it, or rename it (docs/development/where.md#texts-of-the-studio)`,
        ]
      return faultsOf(locale, found.text, found.one, translation).map((fault) => `${key}: ${fault}`)
    })
    expect(faults).toEqual([])
    const same = Object.keys(texts).filter((text) => texts[text] === text)
    expect(same.length, same.join()).toBeLessThan(english.size / 8)
  },
)

test.each(LANGUAGES)('%s shows uploads in the same language as the uploader', async (locale) => {
  const element = (await import(`../../src/elements/texts/${locale}.ts`)) as Language
  expect((await load(locale)).uploader).toBe(element.uploader)
})

test.each(LANGUAGES)('%s translates only failures that exist', async (locale) => {
  const codes = [ERROR_MEANINGS, FILE_ERRORS, SERVICE_ERRORS, TRACK_ERRORS, WARNINGS].flatMap(Object.keys)
  // The client reports that there is no connection.
  expect([...codes, 'network']).toEqual(expect.arrayContaining(Object.keys((await load(locale)).failures)))
})

test('a text keeps its translation when its punctuation changes, and is in English without one', async () => {
  setTexts('de', {
    ...(await load('de')),
    texts: { 'One, or two.': 'Eins', '{n} keys.': { one: '{n} Wort', other: '{n} Worte' } },
  })
  const shown = [t('One or “two”'), tn({ one: '{n} key', other: '{n} keys' }, 2), t('One or three'), t('One or two?')]
  setTexts('en')
  expect(shown).toEqual(['Eins', '2 Worte', 'One or three', 'One or two?'])
})

test('a text with other words keeps its translation when it is renamed', () => {
  const source = `export const texts = {\n  Old: 'Alt',\n  'Old {n}': { other: 'Old' },\n}\n`
  expect(renameText(source, 'Old', 'Ancient')).toBe(source.replace('Old:', '"Ancient":'))
  expect(renameText(source, 'Old, {n}.', 'It’s {n}')).toBe(source.replace("'Old {n}'", '"It’s {n}"'))
  expect(renameText(source, 'Older', 'Ancient')).toBeNull()
  expect(() => renameText(source, 'Old', 'Old: {n}')).toThrow('There is a translation of "Old: {n}" already')
})

test.each(cssFiles())('%s has only logical directions, so that it fits languages from right to left', (_, css) =>
  expect(css.match(/(margin|padding|border)-(left|right)\b|text-align: (left|right)/g)).toBeNull(),
)

test.each([
  ['de', 'In {n} days', undefined, 'In {m}', ['other has {m} instead of {n}']],
  ['de', 'In {n} days', undefined, { one: '', other: '' }, ['needs no plural forms']],
  ['de', '{n} days', '{n} day', '{n} d', ['needs plural forms']],
  ['de', '{n} days', '{n} day', { other: '{n} d' }, ['needs one']],
  ['de', '{n} days', '{n} day', { one: 'a day', other: '{n} d' }, []],
  ['fr', '{n} days', '{n} day', { one: 'a day', other: '{n} d' }, ['one has no placeholder instead of {n}']],
  ['ja', '{n} days', '{n} day', { one: '{n}日', other: '{n}日' }, ['never uses one']],
  ['ar', '{n} days', '{n} day', { one: 'يوم', two: 'يومان', many: '{n} يومًا', other: '{n} يوم' }, ['needs few']],
  ['ja', 'Day', undefined, ' ', ['other is empty']],
])('in %s, the faults of a translation of “%s” are found', (locale, text, one, translation, faults) => {
  expect(faultsOf(locale, text, one, translation)).toEqual(faults)
})
