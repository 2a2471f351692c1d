import { describe, expect, test } from 'vitest'

import { DAY } from '../../src/contract/time.ts'
import { uploader } from '../../src/elements/texts/ja.ts'
import { explain, faultsOf, length, plural } from '../../src/studio/base/format.ts'
import { href, parseRoute } from '../../src/studio/base/route.ts'
import { setTexts, t, tn } from '../../src/studio/base/text.ts'
import { changesOf, draftOf, linksOf, stateOf } from '../../src/studio/features/sharing/link.ts'
import { parseShared } from '../../src/studio/features/sharing/open_share.ts'
import { sitesOf } from '../../src/studio/features/sharing/sites.ts'
import { elementCode, iframeCode, playerCode } from '../../src/studio/features/sharing/snippets.ts'
import { dayText, pauseOf } from '../../src/studio/features/webhooks/webhook.ts'

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
    { page: 'overview', id: '', tab: '', query: {} },
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
  const texts = { 'Move to {title}': '{title}へ移動', '{n} tracks': { other: '{n}曲' } }
  setTexts('ja', { texts, uploader, failures: { not_found: '存在しません' } })
  try {
    expect([t('Move to {title}', { title: 'B' }), t('Undo'), tracks(1200)]).toEqual(['Bへ移動', 'Undo', '1,200曲'])
    const messages = ['not_found', 'internal'].map((code) => explain({ code, message: 'In English.' }))
    expect(messages).toEqual(['存在しません', 'In English.'])
  } finally {
    setTexts('en')
  }
})

const link = (fields: Partial<Parameters<typeof linksOf>[0][number]> = {}) => ({
  id: '1',
  slug: 'night-bus',
  url: 'https://a.test/s/night-bus',
  embed_url: 'https://a.test/embed/s/night-bus',
  scope: 'collection' as const,
  resource_id: '2',
  title: null,
  text: null,
  links: [],
  variants: null,
  is_downloadable: false,
  allowed_origins: ['https://example.com'],
  expires_at: '2026-12-24T18:00:20.000Z',
  has_password: true,
  feed: null,
  feed_url: null,
  created_at: '2026-11-20T10:00:00.000Z',
  ...fields,
})

describe('the settings of a link', () => {
  test('the text and the links of the page are completed, and null or empty when they are turned off', () => {
    const links = [
      { title: ' Shop ', url: ' shop.example ' },
      { title: '', url: 'me@example.com' },
      { title: '', url: '' },
      { title: 'FTP', url: 'ftp://a.example' },
    ]
    const draft = { ...draftOf(link()), hasAbout: true, text: ' Hello\n', links }
    const saved = [
      { title: 'Shop', url: 'https://shop.example' },
      { title: 'me@example.com', url: 'mailto:me@example.com' },
      { title: 'FTP', url: 'ftp://a.example' },
    ]
    expect(changesOf(draft, link())).toEqual({ changes: { text: 'Hello', links: saved }, faults: {} })
    const existing = link({ text: 'Hello', links: saved })
    expect(draftOf(existing)).toMatchObject({ hasAbout: true, text: 'Hello', links: saved })
    expect(changesOf(draftOf(existing), existing)).toEqual({ changes: {}, faults: {} })
    expect(changesOf({ ...draftOf(existing), hasAbout: false }, existing).changes).toEqual({ text: null, links: [] })
    expect(changesOf({ ...draft, links: [{ title: 'Shop', url: ' ' }] }, link()).faults).toHaveProperty('links')
  })

  test('a link that was not edited has no changes, although its end has seconds', () => {
    expect(changesOf(draftOf(link()), link())).toEqual({ changes: {}, faults: {} })
  })
  test('only what was edited is sent, and a setting that is turned off becomes null', () => {
    const draft = { ...draftOf(link()), hasPassword: false, ends: false, hasSites: false, title: ' Live ', slug: '' }
    const changes = { password: null, expires_at: null, allowed_origins: null, title: 'Live' }
    expect(changesOf(draft, link())).toEqual({ changes, faults: {} })
    const other = { ...draftOf(link()), sites: 'www.example.org', password: 'last stop' }
    const wanted = { allowed_origins: ['https://www.example.org'], password: 'last stop' }
    expect(changesOf(other, link()).changes).toEqual(wanted)
  })
  test('rejects a setting without a value, and an end in the past', () => {
    const draft = { ...draftOf(undefined), hasPassword: true, ends: true, ends_at: '2020-01-01T10:00', hasSites: true }
    const { changes, faults } = changesOf(draft, undefined)
    expect([changes, Object.keys(faults)]).toEqual([{}, ['password', 'expires_at', 'allowed_origins']])
  })
})

test('the state of a link says when it ends', () => {
  const now = Date.parse('2026-11-25T12:00:00Z')
  const stateIn = (days: number | null) =>
    stateOf({ expires_at: days === null ? null : new Date(now + days * DAY).toISOString() }, now)
  expect([null, 90, 2.9, 0.1, -1].map(stateIn)).toEqual([
    'Active',
    'Ends on Feb 23, 2027',
    'Ends in 3 days',
    'Ends in 3 hours',
    'Ended on Nov 24, 2026',
  ])
})

test('the list of links is searched, filtered and sorted as the address says, and ignores unknown values', () => {
  const now = Date.parse('2026-12-20T12:00:00Z')
  const links = [
    link({ slug: 'ending', resource: { title: 'Night bus' }, visits: 3 }),
    link({ slug: 'ended', resource: { title: 'Depot' }, expires_at: '2026-12-01T00:00:00.000Z', visits: 9 }),
    link({ slug: 'new', resource: { title: 'Ring road' }, expires_at: null, created_at: '2026-12-01T10:00:00.000Z' }),
  ]
  const found = (query: Record<string, string>) => linksOf(links, query, now).map(({ slug }) => slug)
  expect(found({})).toEqual(['new', 'ending', 'ended'])
  expect(found({ sort: 'visits' })).toEqual(['ended', 'ending', 'new'])
  expect(found({ sort: 'end' })).toEqual(['ended', 'ending', 'new'])
  expect(found({ state: 'ending' })).toEqual(['ending'])
  expect(found({ state: 'toString', sort: 'constructor' })).toHaveLength(3)
  expect(found({ q: 'BUS night' })).toEqual(['ending'])
})

test('the address of the share dialog is rejected unless it names a resource', () => {
  const id = '0003c1b2-0000-4000-8000-00000000dead'
  expect(parseShared(`track.${id}`)).toEqual({ scope: 'track', id, share_id: undefined })
  expect(['', 'track', `toString.${id}`, `track.${id}.x`, undefined].map(parseShared)).toEqual(
    Array.from({ length: 5 }, () => null),
  )
})

test('a frame has the size and the appearance that were chosen', () => {
  const code = (look: Parameters<typeof iframeCode>[4]) => iframeCode('https://a.test/s/x', 'T', 'collection', 3, look)
  expect(code({ size: 'compact', theme: 'dark', accent: '#C0FFEE' })).toContain(
    'src="https://a.test/s/x?layout=compact&amp;theme=dark&amp;accent=C0FFEE" title="T" width="480" height="120"',
  )
  expect(code({ size: 'wide' })).toContain('width="100%" height="440"')
  expect(code({})).toContain('src="https://a.test/s/x" title="T" width="480"')
})
