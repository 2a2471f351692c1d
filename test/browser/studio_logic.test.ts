import { describe, expect, test } from 'vitest'

import { explain, faultsOf, length, plural } from '../../src/studio/format.ts'
import { href, parseRoute } from '../../src/studio/route.ts'
import { sitesOf } from '../../src/studio/sharing/sites.ts'
import { elementCode, playerCode } from '../../src/studio/sharing/snippets.ts'
import { setTexts, t, tn } from '../../src/studio/text.ts'
import { dayText, pauseOf } from '../../src/studio/webhooks/webhook.ts'

/** Tests the logic of the studio without a browser. */

test('the code for a page preloads the session that the player opens, and connects to a storage with another origin', () => {
  const lines = (...rest: [values: Record<string, string>, storage?: string]) =>
    playerCode('https://a.test', ...rest).split('\n')
  const session = { 'play-session-id': '1' }
  const element = '<tonearm-player base-url="https://a.test" play-session-id="1"></tonearm-player>'
  const script = '<script type="module" src="https://a.test/elements/player.js"></script>'
  const preload = '<link rel="preload" as="fetch" crossorigin href="https://a.test/v1/play/1?views=5">'
  expect(lines(session, 'https://r2.test')).toEqual([
    '<link rel="preconnect" href="https://r2.test">',
    preload,
    script,
    element,
  ])
  expect([lines(session), lines(session, 'https://a.test')]).toEqual([
    [preload, script, element],
    [preload, script, element],
  ])
  expect(elementCode('https://a.test', 'uploader', {}).split('\n')).toHaveLength(2)
})

test('a capped count is marked with "or more"', () => {
  expect([plural(1, 'track'), plural(1000, 'collection', true), plural(1200, 'collection')]).toEqual([
    '1 track',
    '1,000 or more collections',
    '1,200 collections',
  ])
})

test('a day is marked if its delivery count is capped', () => {
  const hour = { at: '2026-11-23T10:00:00.000Z', pending: 0, failed: 50 }
  const texts = [199, 200].map((delivered) => dayText([{ ...hour, delivered }], 20))
  expect(texts).toEqual([
    '199 events delivered, 50 given up in 24 hours',
    '200 events delivered, 50 given up; only the newest were counted',
  ])
  expect(dayText([{ ...hour, delivered: 200 }], 1)).toMatch(/in 24 hours$/)
})

test('deliveries are polled until none is pending, and more often if the next attempt is near', () => {
  const dueIn = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const ended = { state: 'delivered', next_attempt_at: null } as const
  const pauses = [
    { state: 'sending', next_attempt_at: null } as const,
    { state: 'pending', next_attempt_at: dueIn(5) } as const,
    { state: 'pending', next_attempt_at: dueIn(7200) } as const,
    // A delivery that waits for an earlier one about the same subject.
    { state: 'pending', next_attempt_at: null } as const,
  ].map((delivery) => pauseOf([ended, delivery]))
  expect(pauses).toEqual([1500, 1500, 30_000, 30_000])
  expect([pauseOf([]), pauseOf([ended, { state: 'failed', next_attempt_at: null }])]).toEqual([null, null])
})

describe('allowed sites', () => {
  test.each([
    ['', []],
    ['www.example.com', ['https://www.example.com']],
    ['https://www.example.com/', ['https://www.example.com']],
    ['HTTPS://Www.Example.com/shop?page=2#top', ['https://www.example.com']],
    ['example.com, other.org', ['https://example.com', 'https://other.org']],
    ['example.com;\n other.org https://example.com:443/', ['https://example.com', 'https://other.org']],
    ['http://localhost:3000', ['http://localhost:3000']],
    ['localhost:3000 127.0.0.1:8787/embed', ['http://localhost:3000', 'http://127.0.0.1:8787']],
    ['http://intranet:8080', ['http://intranet:8080']],
    ['www.example.com:8443', ['https://www.example.com:8443']],
    ['müller.de', ['https://xn--mller-kva.de']],
  ])('accepts %s', (text, origins) => {
    expect(sitesOf(text)).toEqual({ origins })
  })

  test.each([
    'example',
    'ftp://example.com',
    'me@example.com',
    'example..com',
    'https://',
    '*.example.com',
    'a.com:99999',
  ])('names the rejected site %s, even if another one is valid', (word) => {
    const { origins, fault } = sitesOf(`www.example.com ${word}`)
    expect(origins).toEqual([])
    expect(fault).toContain(`“${word}”`)
  })

  test('rejects more sites than the service accepts', () => {
    const many = Array.from({ length: 51 }, (_, i) => `www${i}.example.com`)
    expect(sitesOf(many.slice(1).join(' ')).origins).toHaveLength(50)
    expect(sitesOf(many.join(' '))).toEqual({ origins: [], fault: 'At most 50 sites can be named.' })
  })
})

test.each([
  [0.3, '1 s'],
  [20, '20 s'],
  [59.4, '59 s'],
  [59.6, '1 min'],
  [200, '3 min'],
  [3599, '1 h 0 min'],
  [4230, '1 h 11 min'],
])('formats %d seconds as %s', (seconds, expected) => {
  expect(length(seconds)).toBe(expected)
})

describe('validation errors', () => {
  const long = 'must be at most 255 characters'
  const errors = [
    { path: 'player_subtitle', message: long },
    { path: 'allowed_origins.0', message: 'must be an origin' },
  ]
  const message = `player_subtitle: ${long}`

  test('become one sentence per field and one for the other fields, without API names', () => {
    expect(faultsOf({ message, errors }, ['allowed_origins'])).toEqual({
      allowed_origins: 'Must be an origin.',
      other: 'Subtitle must be at most 255 characters.',
    })
    expect(faultsOf({ message, errors }, ['player_subtitle', 'allowed_origins']).other).toBeUndefined()
  })

  test('keep their message if they name no fields', () => {
    expect(faultsOf({ message: 'The service cannot be reached' }, ['title'])).toEqual({
      other: 'The service cannot be reached',
    })
  })

  test('start with the name of the field', () => {
    const fault = { path: 'bitrate', message: 'must be one of 32, 40 for mp3' }
    expect(explain({ message: '', errors: [fault] })).toBe('Bitrate must be one of 32, 40 for mp3.')
  })
})

test('an address contains the page, the id, the tab and a query without empty values', () => {
  const query = { q: 'söder & co', sort: '', status: 'failed' }
  const address = href('collection', '1', 'look', query)
  expect(address).toBe('#/collection/1/look?q=s%C3%B6der+%26+co&status=failed')
  expect(parseRoute(address)).toEqual({
    page: 'collection',
    id: '1',
    tab: 'look',
    query: { q: 'söder & co', status: 'failed' },
  })
  expect([parseRoute(''), parseRoute('#/trash?')]).toEqual([
    { page: 'collections', id: '', tab: '', query: {} },
    { page: 'trash', id: '', tab: '', query: {} },
  ])
})

test('a text without a translation is shown in English', () => {
  const tracks = (n: number) => tn({ one: '{n} track', other: '{n} tracks' }, n)
  expect([t('Move to {title}', { title: 'B' }), tracks(1), tracks(1200)]).toEqual([
    'Move to B',
    '1 track',
    '1,200 tracks',
  ])
  setTexts('ja', { 'Move to {title}': '{title}へ移動', '{n} tracks': { other: '{n}曲' } })
  try {
    expect([t('Move to {title}', { title: 'B' }), t('Undo'), tracks(1200)]).toEqual(['Bへ移動', 'Undo', '1,200曲'])
  } finally {
    setTexts('en', {})
  }
})
