import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { aCollection, aPlaylist, aTrack, call, HOUR, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { advanceHours, aReadyTrack, aTenantWithTrack, stopTime } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { aFeed, anEpisode, channelOf, elements, FEED, FEED_PATH, open, setEpisode, titles } from '../support/podcast.ts'
import { aShare, fakeRateLimit, openPage } from '../support/share_visitor.ts'

/** The podcast feed of a share. test/contract/feed_xml.test.ts passes hostile texts to other parsers. */

let tenant: Awaited<ReturnType<typeof aTenantWithTrack>>
let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  tenant = await aTenantWithTrack()
  ;({ key, collection_id, track_id } = tenant)
})

const organizationOf = async (share_id: string) =>
  (await query<{ organization_id: string }>('select organization_id from shares where id = ?', share_id))[0]!
    .organization_id

describe('the feed of a share', () => {
  it('has the fields of the feed, and the title and text of the page', async () => {
    const { id } = await aFeed(tenant, FEED, { title: 'Two & a half', text: 'Stories **about** <b>&</b>' })
    const channel = await channelOf()
    expect(
      Object.fromEntries(['title', 'link', 'language', 'copyright'].map((name) => [name, channel.text(name)])),
    ).toEqual({
      title: 'Two & a half',
      link: FEED.link,
      language: 'en-US',
      copyright: FEED.copyright,
    })
    // The description is HTML, in which the marks of the owner are elements and everything else is text.
    expect(channel.text('description')).toBe('<p>Stories <strong>about</strong> &lt;b&gt;&amp;&lt;/b&gt;</p>')
    const apple = ['author', 'explicit', 'type', 'block'].map((name) => channel.text(`itunes:${name}`))
    expect(apple).toEqual(['Ana & Ben', 'true', 'serial', undefined])
    const [category] = channel.all('itunes:category')
    expect([category!.attributes, elements(category!)[0]!.attributes]).toEqual([
      { text: 'Society & Culture' },
      { text: 'Documentary' },
    ])
    const [owner] = channel.all('itunes:owner')
    expect(elements(owner!).map(({ name, text }) => [name, text])).toEqual([
      ['itunes:name', 'Ana & Ben'],
      ['itunes:email', 'podcast@example.com'],
    ])
    expect(channel.attributes('itunes:image')).toEqual({ href: 'https://tonearm.test/s/our-podcast/cover.jpg' })
    expect(channel.attributes('atom:link')).toMatchObject({ href: `https://tonearm.test${FEED_PATH}` })
    expect([channel.attributes('podcast:locked'), channel.text('podcast:locked')]).toEqual([
      { owner: FEED.email },
      'yes',
    ])
    expect([channel.text('podcast:medium'), channel.text('podcast:person')]).toEqual(['podcast', 'Ana & Ben'])
    const guid = channel.text('podcast:guid')
    expect(guid).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    await ok('PUT', `/v1/share/${id}`, { key, body: { slug: 'new-name' } })
    expect((await channelOf('/s/new-name/feed.xml')).text('podcast:guid')).toBe(guid)
  })

  it('has the episodes with the size and type of their best file, and the same guid after every change', async () => {
    const chapters = [
      { startTime: 0, title: 'Opening' },
      { startTime: 2, endTime: 3, title: 'Bird & Diz', url: 'https://a.example/' },
    ]
    await ok('PUT', `/v1/track/${track_id}/chapters`, { key, body: { chapters } })
    const published_at = '2026-03-01T10:00:00.000Z'
    const description = 'A *first* one.\n\nWith [notes](https://notes.example).'
    await setEpisode(tenant, track_id, {
      season: 2,
      number: 7,
      type: 'bonus',
      explicit: false,
      description,
      published_at,
    })
    await query(`update tracks set files = json_set(files, '$.list[1][1]', 4711) where id = ?`, track_id)
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { tags: { artist: 'A guest' }, player_title: 'Now' } })
    await aFeed(tenant, FEED)
    const [item] = (await channelOf()).items
    const address = `https://tonearm.test/s/our-podcast/feed/${track_id}`
    expect(item!.attributes('enclosure')).toEqual({ url: `${address}.mp3`, length: '4711', type: 'audio/mpeg' })
    const texts = [
      'title',
      'guid',
      'pubDate',
      'itunes:duration',
      'itunes:season',
      'itunes:episode',
      'itunes:episodeType',
    ]
    expect(texts.map((name) => item!.text(name))).toEqual([
      'Now',
      track_id,
      'Sun, 01 Mar 2026 10:00:00 GMT',
      '12',
      '2',
      '7',
      'bonus',
    ])
    expect(item!.text('itunes:explicit')).toBe('false')
    expect(item!.text('podcast:person')).toBe('A guest')
    expect(item!.text('description')).toMatch(
      /^<p>A <em>first<\/em> one\.<\/p>\n<p>With <a href="https:\/\/notes\.example">notes<\/a>\.<\/p>$/,
    )
    expect(item!.attributes('podcast:chapters')).toEqual({
      url: `${address}.chapters.json`,
      type: 'application/json+chapters',
    })
    const file = await open(`/s/our-podcast/feed/${track_id}.chapters.json`)
    expect(file.headers.get('content-type')).toBe('application/json+chapters')
    expect(JSON.parse(file.text)).toEqual({ version: '1.2.0', chapters })
    expect((await open(`/s/our-podcast/feed/${UNKNOWN_ID}.chapters.json`)).status).toBe(404)
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { player_title: 'Later', episode: null } })
    const [changed] = (await channelOf()).items
    expect([changed!.text('title'), changed!.text('guid')]).toEqual(['Later', track_id])
  })

  it('prefers MP3, then M4A, and lists no track without a file that the share allows', async () => {
    await anEpisode(tenant, 'M4A', {}, ['aac-160.m4a', 'opus-96.webm'])
    await anEpisode(tenant, 'Opus', {}, ['opus-96.webm'])
    await anEpisode(tenant, 'None', {}, [])
    const early = await anEpisode(tenant, 'Early', {}, ['early.mp3'])
    await query(`update tracks set files = json_set(files, '$.is_early', 1) where id = ?`, early)
    await aTrack(key, collection_id)
    const { id } = await aFeed(tenant, { type: 'serial' })
    const enclosures = async () =>
      (await channelOf()).items.map(({ attributes }) => [
        attributes('enclosure')!.url!.split('.').at(-1),
        attributes('enclosure')!.type,
      ])
    expect(await enclosures()).toEqual([
      ['mp3', 'audio/mpeg'],
      ['m4a', 'audio/mp4'],
      ['opus', 'audio/webm'],
    ])
    await ok('PUT', `/v1/share/${id}`, { key, body: { variants: ['aac-160'] } })
    expect(await enclosures()).toEqual([
      ['m4a', 'audio/mp4'],
      ['m4a', 'audio/mp4'],
    ])
  })

  it('is newest first, or in the order of the list, and hides episodes until they are published', async () => {
    stopTime()
    const at = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString()
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { player_title: 'First' } })
    await setEpisode(tenant, track_id, { published_at: at(-3) })
    await anEpisode(tenant, 'Second', { published_at: at(-5) })
    await anEpisode(tenant, 'Third', { published_at: at(1) })
    const { id } = await aFeed(tenant)
    expect(await titles()).toEqual(['First', 'Second'])
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: { type: 'serial' } } })
    expect(await titles()).toEqual(['First', 'Second'])
    advanceHours(2)
    expect(await titles()).toEqual(['First', 'Second', 'Third'])
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: {} } })
    expect(await titles()).toEqual(['Third', 'First', 'Second'])
  })

  it('lists a track of a playlist once, and none of another collection', async () => {
    const other = await aCollection(key)
    await aReadyTrack(key, other.id, { player_title: 'Elsewhere' })
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { player_title: 'Here' } })
    const second = await anEpisode(tenant, 'There')
    const id = await aPlaylist(key, [second, track_id, second])
    await aFeed(tenant, { type: 'serial' }, { scope: 'playlist', id })
    expect(await titles()).toEqual(['There', 'Here'])
    await aShare(key, collection_id, { slug: 'single', scope: 'track', id: second, is_downloadable: true, feed: {} })
    expect(await titles('/s/single/feed.xml')).toEqual(['There'])
  })

  it('is not sent again to a client that has it', async () => {
    stopTime()
    const { id } = await aFeed(tenant)
    advanceHours(1)
    const { headers } = await open(FEED_PATH)
    const [etag, modified] = [headers.get('etag')!, headers.get('last-modified')!]
    expect(headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
    const status = async (conditions: Record<string, string>) => (await open(FEED_PATH, conditions)).status
    const unchanged: Record<string, string>[] = [
      { 'if-none-match': etag },
      { 'if-none-match': `"x", W/${etag}` },
      { 'if-modified-since': modified },
    ]
    expect(await Promise.all(unchanged.map(status))).toEqual([304, 304, 304])
    const early = { 'if-modified-since': new Date(Date.parse(modified) - 1000).toUTCString() }
    const other = { 'if-none-match': '"x"', 'if-modified-since': modified }
    expect(await Promise.all([early, other].map(status))).toEqual([200, 200])
    const unknown = await open('/s/our-podcast/feed.xml', { 'if-none-match': etag })
    expect([unknown.status, unknown.text]).toEqual([304, ''])
    const head = await call('HEAD', FEED_PATH)
    expect([head.status, head.headers.get('etag'), head.body]).toEqual([200, etag, undefined])
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    // The database has its own clock.
    await query('update events set seq = seq + ? where seq = (select max(seq) from events)', HOUR)
    advanceHours(1)
    expect(await Promise.all(unchanged.map(status))).toEqual([200, 200, 200])
    await ok('PUT', `/v1/organization/${await organizationOf(id)}`, { key, body: { uses_tags: false } })
    const later = (await open(FEED_PATH)).headers
    expect(later.get('last-modified'), 'in the second of a change').toBeNull()
  })

  it('has a cover whose size and type directories can ask for', async () => {
    await aFeed(tenant)
    const generated = await call('HEAD', '/s/our-podcast/cover.jpg')
    expect([generated.status, generated.headers.get('location')]).toEqual([302, expect.stringMatching(/large\.png$/)])
    await env.MEDIA.put('media/cover/large.jpg', 'jpeg')
    await query(`update collections set cover_path = 'media/cover', cover_size = 1400 where id = ?`, collection_id)
    const { status, headers } = await call('HEAD', '/s/our-podcast/cover.jpg')
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'image/jpeg', '4'])
    expect((await open('/s/our-podcast/cover.jpg')).headers.get('location')).toContain('/media/cover/large.jpg')
  })

  it('is named by the page of the share, unless it is private', async () => {
    const { id } = await aFeed(tenant)
    const link = async () =>
      /<link rel="alternate" type="application\/rss\+xml" href="([^"]+)"/.exec((await open('/s/our-podcast')).text)?.[1]
    expect(await link()).toBe(`https://tonearm.test${FEED_PATH}`)
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: { block: true } } })
    expect(await link()).toBeUndefined()
  })

  it('ends at once with the share or its feed, and asks search engines not to index a private one', async () => {
    const { id } = await aFeed(tenant, { block: true })
    const { headers } = await open(FEED_PATH)
    expect(headers.get('x-robots-tag')).toBe('noindex')
    expect([(await channelOf()).text('itunes:block'), (await channelOf()).text('podcast:block')]).toEqual([
      'Yes',
      'yes',
    ])
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: null } })
    expect((await open(FEED_PATH)).status).toBe(404)
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: {} } })
    expect((await open(FEED_PATH)).headers.get('x-robots-tag')).toBeNull()
    await updateReplica()
    await ok('DELETE', `/v1/share/${id}`, { key })
    // A replica that lags behind does not decide about it.
    const statusOf = async (path: string) => (await openPage(path, undefined, laggingBindings().bindings)).status
    const paths = [FEED_PATH, `/s/our-podcast/feed/${track_id}.chapters.json`]
    expect(await Promise.all(paths.map(statusOf))).toEqual([410, 410])
    expect((await open('/s/nobody/feed.xml')).status).toBe(404)
  })

  it('lists at most 1,000 episodes: the last ones, or the first ones of a serial', async () => {
    await query(
      `insert into tracks (id, organization_id, collection_id, "index", file_name, "order", metadata, cover_colors, status,
        upload_expires_at, awaiting_upload, next_check_at, created_at, info, duration, files)
        select '00000000-0000-4000-8000-' || printf('%012d', value), organization_id, collection_id, 'i' || value, value || '.mp3', value + 10, '{}', '[]',
          'ready', 0, 0, 0, created_at, '{}', 1, files from tracks, generate_series(1, 1000) where id = ?`.replace(
        'generate_series(1, 1000)',
        '(with recursive n(value) as (select 1 union all select value + 1 from n where value < 1000) select value from n)',
      ),
      track_id,
    )
    const { id } = await aFeed(tenant)
    const last = await titles()
    expect([last.length, last[0], last.at(-1)]).toEqual([1000, '1000', '1'])
    // A large feed counts like many requests, because one address could keep the database busy with it.
    const statusWith = async (most: number) =>
      (await openPage(FEED_PATH, undefined, { ...env, PLAY_RATE_LIMIT: fakeRateLimit(most) })).status
    expect([await statusWith(21), await statusWith(20)]).toEqual([200, 429])
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: { type: 'serial' } } })
    const first = await titles()
    expect([first.length, first[1], first.at(-1)]).toEqual([1000, '1', '999'])
    await query(`update tracks set episode = json_object('description', printf('%.10000c', 'x'))`)
    const described = (await channelOf()).items.map((item) => item.text('description') !== undefined)
    expect([described.indexOf(false), described.lastIndexOf(true)]).toEqual([100, 99])
  })
})
