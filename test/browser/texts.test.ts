import { expect, test, vi } from 'vitest'

import { LOCALES } from '../../src/contract/facts.ts'
import { problemText } from '../../src/elements/shared/upload_status.ts'
import * as english from '../../src/elements/texts/en.ts'
import { popovers } from '../../src/elements/texts/en_popovers.ts'
import { languageOf } from '../../src/elements/texts/languages.ts'
import { fill, fillNumber, pickLocale, withOverrides } from '../../src/elements/texts/texts.ts'

/** Tests the texts of the elements in every language. */

const en = { ...english, player: { ...english.player, ...popovers } }

/** Maps the path of each text to the text. The only plural form in it is `other`, which every language has. */
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

async function load(locale: string) {
  await vi.waitFor(() => expect(languageOf(locale, () => {})).toBeDefined(), { timeout: 30_000 })
  return languageOf(locale, () => {})!
}

test.each(LOCALES.slice(1))('%s translates every English text', async (locale) => {
  const [english, translated] = [flat(en), flat(await load(locale))]
  expect(Object.keys(translated).toSorted()).toEqual(Object.keys(english).toSorted())
  for (const [path, text] of Object.entries(translated)) {
    expect(text.trim(), path).not.toBe('')
    expect(placeholders(text), path).toEqual(placeholders(english[path]!))
  }
  const same = Object.keys(translated).filter((path) => translated[path] === english[path])
  expect(same.length, same.join()).toBeLessThan(Object.keys(translated).length / 4)
})

test('a language loads when it is first used, and an unknown language never loads', async () => {
  const onLoad = vi.fn()
  expect(languageOf('xx', onLoad)).toBeUndefined()
  await load('de-AT')
  expect(languageOf('de', onLoad)?.player.pause).toBe('Pause')
  expect(onLoad).not.toHaveBeenCalled()
})

test('texts of the page override the built-in ones', () => {
  const overrides = { play: 'Go', errors: { not_found: 'Gone' } }
  const expected = { ...en.player, play: 'Go', errors: { ...en.player.errors, not_found: 'Gone' } }
  expect(withOverrides(en.player, overrides)).toEqual(expected)
})

test('the first supported locale is picked', () => {
  expect([pickLocale(null, 'en_US', 'de-ch', 'fr'), pickLocale('', undefined)]).toEqual(['de-CH', 'en'])
})

test('placeholders are filled in', () =>
  expect(fill('{time} of {duration}, {else}', { time: '1', duration: 2 })).toBe('1 of 2, {else}'))

test('the plural form of the language is used', async () => {
  const [ja, ar] = [await load('ja'), await load('ar')]
  const textOf = (locale: 'en' | 'ja' | 'ar', n: number) => fillNumber({ en, ja, ar }[locale].uploader.added, n, locale)
  expect([textOf('en', 1), textOf('en', 2000), textOf('ja', 1)]).toEqual([
    '1 file added',
    '2,000 files added',
    '1個のファイルを追加しました',
  ])
  expect(new Set([1, 2, 3, 11, 100].map((n) => textOf('ar', n).replace(/\P{L}/gu, ''))).size).toBe(5)
})

test.each(LOCALES)('in %s, the text of an exceeded quota names the limit, the use and the reset', async (locale) => {
  const { uploader: texts } = locale === 'en' ? en : await load(locale)
  const resets_at = '2026-11-26T00:00:00.000Z'
  const textOf = (scope: 'upload_session' | 'api_key' | 'organization', name: 'max_bytes' | 'max_tracks') => {
    const quota = { scope, name, limit: 21e9, used: 19.5e9, requested: 2e9, resets_at }
    return problemText({ code: 'quota_exceeded', message: 'English', quota }, { texts, locale })
  }
  const number = (value: number) => value.toLocaleString(locale, { maximumFractionDigits: 1 })
  for (const scope of ['upload_session', 'api_key', 'organization'] as const) {
    const text = textOf(scope, 'max_bytes')
    expect(text).toContain(number(21))
    expect(text).toContain(number(19.5))
    expect(text).not.toMatch(/[{}]|English/)
    expect(textOf(scope, 'max_tracks')).toContain(fillNumber(texts.files, 21e9, locale))
  }
  const when = new Date(resets_at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  expect(textOf('api_key', 'max_tracks')).toContain(when)
})
