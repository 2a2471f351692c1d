import { exports } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import type { Tags } from '../../../src/contract/info.ts'
import type { TranscodeJob } from '../../../src/contract/job.ts'
import { aPlaySession, aWaitingTrack, ok, query, readTrack } from '../support/api.ts'
import { aTenant, type Tenant } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { countCallRows } from '../support/row_counter.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

/** How the tags of a file are used. Values that people set always take precedence over tags (docs/tags.md). */

const TAGS = {
  title: 'Blue in Green',
  artist: 'Miles Davis',
  album: 'Kind of Blue',
  album_artist: 'Miles Davis Sextet',
  genre: 'Jazz',
  date: '1959-08-17',
  year: 1959,
  track_number: 3,
  track_count: 5,
  disc_number: 1,
} satisfies Tags

let tenant: Tenant
/** The tags of the files, by file name. */
let files: Record<string, Tags | undefined>
let jobs: TranscodeJob[]

beforeEach(async () => {
  vi.restoreAllMocks()
  tenant = await aTenant()
  files = {}
  jobs = serveTranscoder((job) => completeResult(job, { tags: files[job.tags!.defaults.title!] }))
})

async function aTrack(name: string, tags?: Tags, body: object = {}) {
  files[name] = tags
  const track_id = await aWaitingTrack(tenant.key, tenant.collection_id, { file_name: `${name}.mp3`, ...body })
  await uploadAndProcess(tenant.key, track_id)
  return track_id
}
const set = (path: string, body: object) => ok('PUT', `/v1/${path}`, { key: tenant.key, body })
const setOrganization = (body: object) => set(`organization/${tenant.organization_id}`, body)
const read = (track_id: string) => readTrack(tenant.key, track_id)
const play = () => aPlaySession(tenant.key, 'collection', tenant.collection_id)
/** Returns the titles and subtitles in a session's list; expects the same values in the tracks' play views. */
async function titlesAndSubtitles() {
  const { play_session_id, tracks } = await play()
  for (const { id, player_title, player_subtitle } of tracks) {
    const { track } = await ok('GET', `/v1/play/${play_session_id}/${id}`)
    expect(track).toMatchObject({ player_title, player_subtitle })
  }
  return tracks.map(({ player_title, player_subtitle }) => [player_title, player_subtitle])
}
const reprocess = async (track_id: string) => {
  const calls = jobs.length
  await ok('POST', `/v1/track/${track_id}/reprocess`, { key: tenant.key })
  await vi.waitUntil(async () => jobs.length > calls && (await read(track_id)).status === 'ready', { timeout: 10_000 })
  return jobs.at(-1)!
}

describe('tags', () => {
  it('are returned in the track, in lists and in play views exactly as in the file', async () => {
    const track_id = await aTrack('03', TAGS)
    expect((await read(track_id)).tags).toEqual(TAGS)
    const list = await ok('GET', `/v1/collection/${tenant.collection_id}/track`, { key: tenant.key })
    expect(list.tracks[0]!.tags).toEqual(TAGS)
    expect((await play()).first_track!.track.tags).toEqual(TAGS)
  })

  it('are empty for a file without tags, and unchanged when a transcoder reports no tags', async () => {
    const track_id = await aTrack('03')
    expect((await read(track_id)).tags).toEqual({})
    files['03'] = TAGS
    await reprocess(track_id)
    files['03'] = undefined
    await reprocess(track_id)
    expect((await read(track_id)).tags).toEqual(TAGS)
  })

  it('provide title and subtitle unless the track has its own, which reprocessing does not change', async () => {
    const track_id = await aTrack('03', TAGS)
    await set(`collection/${tenant.collection_id}`, { player_subtitle: 'Columbia' })
    expect(await titlesAndSubtitles()).toEqual([['Blue in Green', 'Miles Davis']])
    expect(await read(track_id)).toMatchObject({ player_title: null, player_subtitle: null })

    await set(`track/${track_id}`, { player_title: 'Edited', player_subtitle: 'Bill Evans' })
    expect(await titlesAndSubtitles()).toEqual([['Edited', 'Bill Evans']])
    const { tags } = await reprocess(track_id)
    expect(tags!.overrides).toEqual({ title: 'Edited', artist: 'Bill Evans' })
    expect(await titlesAndSubtitles()).toEqual([['Edited', 'Bill Evans']])

    await set(`track/${track_id}`, { player_title: null, player_subtitle: null })
    expect(await titlesAndSubtitles()).toEqual([['Blue in Green', 'Miles Davis']])
  })

  it.each<[string, Tags, string, string | null]>([
    ['no title', { artist: 'Miles Davis' }, '03', 'Miles Davis'],
    ['the artist of the album only', { album_artist: 'Sextet' }, '03', 'Sextet'],
    ['no artist', { title: 'Blue in Green' }, 'Blue in Green', 'The shop'],
    ['markup, which is text', { title: '<img src=x>' }, '<img src=x>', 'The shop'],
  ])('provide title and subtitle for a file with %s', async (_, tags, title, subtitle) => {
    await setOrganization({ player_subtitle: 'The shop' })
    await aTrack('03', tags)
    expect(await titlesAndSubtitles()).toEqual([[title, subtitle]])
  })

  it('are returned but not used when the organization disables them', async () => {
    await setOrganization({ uses_tags: false })
    const track_id = await aTrack('03', TAGS)
    await aTrack('01', { ...TAGS, track_number: 1 })
    expect(await titlesAndSubtitles()).toEqual([
      ['03', null],
      ['01', null],
    ])
    expect((await play()).first_track!.track.tags).toEqual({})
    expect((await read(track_id)).tags).toEqual(TAGS)
    expect(jobs[0]).toMatchObject({ cover: null, picture: { url: null, wins: true } })
    expect(jobs[0]!.tags).toEqual({
      from_source: false,
      overrides: {},
      defaults: { title: '03', album: 'Kind of Blue' },
    })
    await setOrganization({ uses_tags: true })
    expect(await titlesAndSubtitles()).toEqual([
      ['Blue in Green', 'Miles Davis'],
      ['Blue in Green', 'Miles Davis'],
    ])
  })
})

describe('a transcode request', () => {
  it('contains fallbacks for missing tags, and the cover to embed into the files', async () => {
    await setOrganization({ player_subtitle: 'The shop' })
    await aTrack('03')
    expect(jobs[0]).toMatchObject({
      tags: { from_source: true, overrides: {}, defaults: { title: '03', artist: 'The shop', album: 'Kind of Blue' } },
      cover: { regular: expect.any(String) },
      picture: { url: null, wins: false },
    })
    await query('update collections set cover_path = ?, player_subtitle = ?', 'media/of-collection', 'Columbia')
    const track_id = await aTrack('04')
    expect(jobs[1]).toMatchObject({ tags: { defaults: { artist: 'Columbia' } }, picture: { wins: false } })
    expect(new URL(jobs[1]!.picture!.url!).pathname).toMatch(/\/media\/of-collection\/regular\.jpg$/)

    await query('update tracks set cover_path = ? where id = ?', 'media/of-track', track_id)
    const job = await reprocess(track_id)
    expect(job.picture!.wins).toBe(true)
    expect(new URL(job.picture!.url!).pathname).toMatch(/\/media\/of-track\/regular\.jpg$/)
    await set(`collection/${tenant.collection_id}`, { is_cover_overridable: false })
    const { picture } = await reprocess(track_id)
    expect(picture!.wins).toBe(true)
    expect(new URL(picture!.url!).pathname).toMatch(/\/media\/of-collection\/regular\.jpg$/)
    await query('update collections set cover_path = null')
    expect((await reprocess(track_id)).picture).toEqual({ url: null, wins: true })
  })
})

describe('an album', () => {
  const numbered = (disc_number: number, track_number: number) => ({ ...TAGS, disc_number, track_number })
  const order = async () => (await titlesAndSubtitles()).map(([title]) => title)
  const aSong = (name: string, tags: Tags) => aTrack(name, { ...tags, title: name })

  it('is sorted by disc and track number regardless of the upload order, while all other tracks keep their positions', async () => {
    await aSong('2-2', numbered(2, 2))
    await aTrack('Of no album')
    await aSong('1-10', numbered(1, 10))
    await aSong('Of another', { ...numbered(1, 1), album: 'Milestones' })
    await aSong('1-9', numbered(1, 9))
    await aSong('2-1', numbered(2, 1))
    const { disc_number: _, ...withoutDisc } = numbered(1, 1)
    await aSong('1-1', withoutDisc)
    expect(await order()).toEqual(['1-1', 'Of no album', '1-9', 'Of another', '1-10', '2-1', '2-2'])
  })

  it('excludes tracks by another artist with the same album title', async () => {
    await aSong('A 2', numbered(1, 2))
    await aSong('B 3', { ...numbered(1, 3), album_artist: 'Bill Evans' })
    const { album_artist: _, ...withoutAlbumArtist } = numbered(1, 2)
    await aSong('C 2', withoutAlbumArtist)
    await aSong('A 1', numbered(1, 1))
    await aSong('C 1', { ...withoutAlbumArtist, track_number: 1 })
    expect(await order()).toEqual(['A 1', 'B 3', 'C 1', 'A 2', 'C 2'])
  })

  it('keeps an order that was set by hand', async () => {
    const [second, first] = [await aSong('2', numbered(1, 2)), await aSong('1', numbered(1, 1))]
    expect(await order()).toEqual(['1', '2'])
    await set(`collection/${tenant.collection_id}/track/order`, { track_ids: [second, first] })
    await aSong('0', numbered(1, 0))
    await reprocess(first)
    expect(await order()).toEqual(['2', '1', '0'])
  })
})

describe('a cover', () => {
  const squares = (path: string) => new RegExp(`/${path}/regular\\.jpg\\?`)
  const regularOf = ({ cover_image }: { cover_image: { regular: { url: string } } }) => cover_image.regular.url
  const ofCollection = async () => ok('GET', `/v1/collection/${tenant.collection_id}/cover`, { key: tenant.key })
  const cardOf = async (play_session_id: string) => {
    const text = await (await exports.default.fetch(`https://tonearm.test/embed/${play_session_id}`)).text()
    const card = Object.fromEntries(
      [...text.matchAll(/<meta property="og:image(?::(\w+))?" content="([^"]+)"/g)].map(([, name = 'url', value]) => [
        name,
        value,
      ]),
    )
    return { url: card.url?.replaceAll('&amp;', '&'), width: card.width }
  }

  it('of the first track is used for the collection and its other tracks until the collection has its own cover', async () => {
    const [first, second] = [await aTrack('1'), await aTrack('2')]
    await query(
      'update tracks set cover_path = ?, cover_colors = ? where id = ?',
      'media/first',
      '[{"hex":"#AA3300","area":1,"lightness":0.5,"saturation":0.5}]',
      first,
    )
    const { play_session_id } = await play()
    const viewed = await ok('GET', `/v1/play/${play_session_id}/${second}`)
    expect(regularOf(viewed)).toMatch(squares('media/first'))
    expect(viewed.track.image_colors).toMatchObject([{ hex: '#AA3300' }])
    expect(regularOf(await ofCollection())).toMatch(squares('media/first'))
    expect((await cardOf(play_session_id)).url).toMatch(squares('media/first'))
    const { picture } = await reprocess(second)
    expect(picture).toEqual({ url: expect.stringMatching(squares('media/first')), wins: false })

    await query('update collections set cover_path = ?', 'media/own')
    await setOrganization({ name: 'Changed, to clear the cache' })
    expect(regularOf(await ok('GET', `/v1/play/${play_session_id}/${second}`))).toMatch(squares('media/own'))
    expect(regularOf(await ofCollection())).toMatch(squares('media/own'))
  })

  it('costs a play view one more row only when neither the track nor the collection has its own cover', async () => {
    const track_id = await aTrack('1')
    const { play_session_id } = await play()
    const cost = async () => {
      const { statements, read: rows } = await countCallRows('GET', `/v1/play/${play_session_id}/${track_id}`)
      return { statements, rows }
    }
    expect(await cost()).toEqual({ statements: 1, rows: 5 })
    for (const table of ['tracks', 'collections']) {
      await query(`update ${table} set cover_path = ?`, 'media/own')
      expect(await cost(), table).toEqual({ statements: 1, rows: 4 })
      await query(`update ${table} set cover_path = null`)
    }
  })

  it.each([
    ['organization', { uses_tags: false }],
    ['organization', { is_cover_overridable: false }],
    ['collection', { is_cover_overridable: false }],
  ] as const)('of a track is not used for the collection when the %s has %j', async (level, body) => {
    const first = await aTrack('1')
    await query('update tracks set cover_path = ? where id = ?', 'media/first', first)
    await set(`${level}/${tenant[`${level}_id`]}`, body)
    expect(regularOf(await ofCollection())).toMatch(/\/cover\/[^/]+\/regular\.png$/)
  })

  it('is available as a large square for management and link previews when the uploaded picture is large', async () => {
    const { play_session_id } = await play()
    await query('update collections set cover_path = ?', 'media/own')
    expect((await ofCollection()).cover_image.large).toBeNull()
    expect(await cardOf(play_session_id)).toMatchObject({
      url: expect.stringMatching(squares('media/own')),
      width: '400',
    })
    await query('update collections set cover_size = 1400')
    const large = /\/media\/own\/large\.jpg\?/
    expect((await ofCollection()).cover_image.large).toEqual({
      type: 'large',
      width: 1400,
      height: 1400,
      url: expect.stringMatching(large),
    })
    expect(await cardOf(play_session_id)).toMatchObject({ url: expect.stringMatching(large), width: '1400' })
  })
})
