import { expect, test } from 'vitest'

import { readSearchEntries } from '../../scripts/build/docs/search_entries.ts'
import { createFinder } from '../../src/reference/find.ts'

// cspell:ignore idempot pasword webook zzyzx
/**
 * Searches in the words of the documentation of other products, each with the page that it should lead to. They were collected before the search was built.
 * Add searches of users; do not change one so that it passes.
 */
const SEARCHES: Record<string, [query: string, page: string][]> = {
  'Mux: Secure video playback; Verify webhook signatures; Upload files directly; Mux Player; Mux Data; Pricing': [
    ['verify webhook signatures', '/docs/webhooks'],
    ['direct uploads', '/docs/upload'],
    ['sign a playback token on my server', '/docs/signed_sessions'],
    ['embed a player in a web page', '/docs/embed'],
    ['supported input formats', '/docs/processing'],
    ['viewer analytics', '/docs/counting'],
    ['player events and methods', '/docs/player'],
    ['pricing', '/docs/cost'],
    ['react player component', '/docs/packages'],
  ],
  'Cloudflare Stream: Direct creator uploads; Upload via link; Resumable uploads (tus); Secure your Stream; Get started':
    [
      ['let users upload without exposing api token', '/docs/uploader'],
      ['upload via link', '/docs/upload'],
      ['resumable upload', '/docs/upload'],
      ['allowed origins', '/docs/keys'],
      ['notify when ready to stream', '/docs/webhooks'],
      ['how much does storage cost', '/docs/cost'],
      ['get started', '/docs/start'],
    ],
  'Stripe: Idempotent requests; Pagination; Rate limits; API keys; Webhooks; Events; Testing': [
    ['idempotency key', '/docs/concepts'],
    ['pagination', '/docs/lists'],
    ['rate limits', '/docs/limits'],
    ['restricted api keys', '/docs/keys'],
    ['test webhooks locally', '/docs/webhooks'],
    ['error codes', '/docs/errors'],
    ['list events', '/docs/events'],
  ],
  'Amazon S3 and R2: Multipart upload; Custom domains; Backup; Data location': [
    ['multipart upload large files', '/docs/upload'],
    ['cdn custom domain', '/docs/media'],
    ['disaster recovery', '/docs/backup'],
    ['data residency', '/docs/deploy'],
  ],
  'Supabase: Storage access control; Resumable uploads; Self-hosting; Metrics': [
    ['self hosting', '/docs/deploy'],
    ['maximum file size', '/docs/limits'],
    ['prometheus metrics', '/docs/metrics'],
    ['migrate to another project', '/docs/move'],
  ],
  'Transistor, Buzzsprout: Private feeds; How downloads are counted; RSS feed; Embed player': [
    ['private podcast feed', '/docs/feeds'],
    ['rss feed for apple podcasts', '/docs/feeds'],
    ['how are downloads counted', '/docs/counting'],
    ['password protected link', '/docs/share'],
    ['chapter markers', '/docs/edit'],
  ],
  'AudioDN: Play sessions; Variants; API key types; Client-side web components; Mobile': [
    ['play session expires', '/docs/play'],
    ['bitrates and codecs', '/docs/variants'],
    ['ios and android app', '/docs/listening'],
    ['waveform peaks', '/docs/waveform'],
  ],
}

const finder = createFinder(await readSearchEntries())
const pagesOf = (query: string) =>
  finder
    .find(query)
    .slice(0, 2)
    .map(({ url }) => url.split('#')[0])

test('there are forty searches', () => {
  expect(Object.values(SEARCHES).flat()).toHaveLength(40)
})

test.each(Object.values(SEARCHES).flat())(
  'the search "%s" leads to %s with its first or second result',
  (query, page) => {
    expect(pagesOf(query)).toContain(page)
  },
)

test.each([
  ['limit key to origin', '/docs/keys'],
  ['origin', '/docs/keys'],
  ['signature', '/docs/webhooks'],
  ['rate limit', '/docs/limits'],
  ['waveform own data', '/docs/waveform'],
  ['cost of a play', '/docs/cost'],
  ['pasword', '/docs/share'],
  ['webook', '/docs/webhooks'],
  ['idempot', '/docs/concepts'],
])('words of a review, typing errors and starts of words: "%s" leads to %s', (query, page) => {
  expect(pagesOf(query)).toContain(page)
})

test.each([
  ['createTrackPlaySession', '/docs/api/play-sessions#createTrackPlaySession'],
  ['size_mismatch', '/docs/errors'],
  ['<tonearm-waveform>', '/docs/player#tonearm-waveform'],
])('names of the API: "%s" leads to %s', (query, url) => {
  expect(finder.find(query)[0]?.url).toContain(url)
})

test.each([
  ['statuses', '/docs/upload#statuses'],
  ['levels', '/docs/waveform'],
  ['cover', '/docs/upload#covers'],
])('guides come before operations and pages about the inside: "%s" leads to %s', (query, url) => {
  expect(finder.find(query)[0]?.url).toBe(url)
})

test('nothing is found for words without a meaning and for unknown ones, and no page fills the results', () => {
  expect([...finder.find('how do i'), ...finder.find('zzyzx'), ...finder.find('')]).toEqual([])
  const pages = finder.find('track').map(({ url }) => url.split('#')[0])
  const counts = [...Map.groupBy(pages, (page) => page).values()].map(({ length }) => length)
  expect(Math.max(...counts)).toBe(3)
})
