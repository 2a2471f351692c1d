import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { labelsOf } from '../../src/resources/library/appearance.ts'
import {
  decode,
  ffmpeg,
  type Format,
  formats,
  lavfi,
  makeAudio,
  makeImage,
  probeTags,
  withCover,
} from '../support/audio.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

/** Tags and pictures: how the service reads them, even if they are malformed, and how it writes them to the variants. */

const { storage, service } = await shareService()
let sources = 0

async function make(source: Buffer, indexes: string[], changes: Partial<TranscodeJob> = {}) {
  const job = newJob(storage, storage.serve(`tagged-${sources++}`, source), changes)
  job.variants = job.variants.filter(({ index }) => indexes.includes(index))
  const { result } = await succeed(service, job)
  const fileOf = (index: string) => storage.files.get(`${job.job_id}/${index}`)!
  return { result, fileOf, probe: (index: string) => probeTags(fileOf(index)) }
}

const outputs = (name: string) => {
  const at = (size: string) => storage.url(`${name}/${size}`)
  return { icon: at('icon'), small: at('small'), regular: at('regular'), large: at('large') }
}

const TAGS = {
  title: 'Flamenco <b>Sketches</b> & "more" = 日本',
  artist: 'Miles Davis',
  album: 'Kind of Blue',
  album_artist: 'Miles Davis Sextet',
  composer: 'Bill Evans',
  genre: 'Jazz',
  date: '1959-08-17',
  track: '5/5',
  disc: '1/2',
}
const { track: _track, disc: _disc, ...TEXTS } = TAGS
const READ = { ...TEXTS, year: 1959, track_number: 5, track_count: 5, disc_number: 1, disc_count: 2 }

const tagFlags = (tags: Record<string, string>) =>
  Object.entries(tags).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])

const aTagged = (format: Format, tags: Record<string, string> = TAGS) =>
  makeAudio(format, { seconds: 0.5 }, tagFlags(tags))

const ALL = ['mp3-128', 'aac-160', 'lossless', 'opus-96', 'preview']
const PICTURED = ['mp3-128', 'aac-160', 'lossless']
const untouched = { from_source: true, overrides: {}, defaults: {} }

describe('tags and covers of variants', () => {
  let source: Buffer
  beforeAll(async () => {
    source = await withCover('flac', await aTagged('flac'), await makeImage('jpeg', 1500, 1500))
  })

  it('are those of their source', async () => {
    const cover = outputs('own-cover')
    const { result, probe } = await make(source, ALL, { tags: untouched, cover })
    expect(result.failed).toEqual([])
    expect(result.warnings).toEqual([])
    expect(result.tags).toEqual(READ)
    expect(result.cover?.large).toBe(1400)
    expect((await sharp(storage.files.get('own-cover/large')).metadata()).width).toBe(1400)
    for (const index of ALL) {
      const { tags, picture } = await probe(index)
      expect(tags, index).toMatchObject(TAGS)
      expect(picture, index).toBe(PICTURED.includes(index) ? 400 : null)
    }
  })

  it('prefer edited tags, and use defaults where the source has none', async () => {
    const over = { title: 'A title\nof two lines\0', artist: 'Edited' }
    const under = { title: 'file name', album: 'The collection', artist: 'Nobody' }
    const picture = { url: storage.serve('set-cover', await makeImage('jpeg', 300, 300)).url, wins: true }
    const plain = await aTagged('wav', { title: 'From the file', date: '1971' })
    const made = await make(plain, ALL, { tags: { from_source: true, overrides: over, defaults: under }, picture })
    for (const index of ALL) {
      const { tags, picture } = await made.probe(index)
      const { title, artist, album, date } = tags
      const found = [title, artist, album, date]
      expect(found, index).toEqual(['A title of two lines', 'Edited', 'The collection', '1971'])
      expect(picture, index).toBe(PICTURED.includes(index) ? 300 : null)
    }
  })

  it("exclude the source's tags if the job disables them, and are empty if it requests no tags", async () => {
    const off = await make(source, ['mp3-128'], {
      tags: { from_source: false, overrides: {}, defaults: { title: 'file name' } },
    })
    expect((await off.probe('mp3-128')).tags).toEqual({ title: 'file name', encoder: expect.any(String) })
    const old = await make(source, ['mp3-128'])
    expect(await old.probe('mp3-128')).toEqual({ tags: { encoder: expect.any(String) }, picture: null })
    // The source's tags are still read.
    expect(off.result.tags).toEqual(READ)
  })

  it('include the embedded picture unless another one has precedence, and no picture if that one is missing', async () => {
    const url = storage.serve('collection-cover', await makeImage('jpeg', 300, 300)).url
    const inside = await make(source, ['mp3-128'], { tags: untouched, picture: { url, wins: false } })
    expect((await inside.probe('mp3-128')).picture).toBe(400)
    const gone = { url: storage.url('gone'), wins: true }
    const without = await make(source, ['mp3-128'], { tags: untouched, picture: gone })
    expect(without.result.failed).toEqual([])
    expect((await without.probe('mp3-128')).picture).toBeNull()
  })

  it('include no picture if neither the embedded one nor another one is enabled', async () => {
    const none = await make(source, ['mp3-128'], { tags: untouched, picture: { url: null, wins: true } })
    expect((await none.probe('mp3-128')).picture).toBeNull()
    const off = { from_source: false, overrides: {}, defaults: {} }
    const unused = await make(source, ['mp3-128'], { tags: off, cover: outputs('unused-cover') })
    expect((await unused.probe('mp3-128')).picture).toBeNull()
  })

  it.each<Record<string, string>>([
    { artist: 'Miles Davis', album_artist: 'Sextet' },
    { album_artist: 'Sextet' },
    { title: 'No artist' },
  ])('name the artist that listeners see: %j', async (tags) => {
    const { result, probe } = await make(await aTagged('flac', tags), ['mp3-128'], {
      tags: { from_source: true, overrides: {}, defaults: { artist: 'Columbia' } },
    })
    const nothing = { player_color: null, player_subtitle: null, is_theme_overridable: true }
    const { player_subtitle } = labelsOf({
      organization: { ...nothing, uses_tags: true },
      collection: { ...nothing, player_subtitle: 'Columbia' },
      playlist: null,
      track: { ...nothing, player_title: null, file_name: '', tags: result.tags! },
    })
    expect((await probe('mp3-128')).tags.artist).toBe(player_subtitle)
  })

  it('do not change the samples', async () => {
    const job = { tags: untouched }
    const decoded = []
    for (const changes of [{}, job]) {
      const { result, fileOf } = await make(source, ['lossless'], changes)
      expect(result.failed).toEqual([])
      decoded.push(await decode(fileOf('lossless')))
    }
    expect(decoded[1]).toEqual(decoded[0])
  })
})

/** An MP3 without tags, to which tests add handwritten tags. */
let bare: Buffer
beforeAll(async () => {
  bare = await ffmpeg([...lavfi({ seconds: 0.5 }), ...formats.mp3, '-id3v2_version', '0', '-map_metadata', '-1'])
})

const LATIN = { title: Buffer.from('Über den Wolken', 'latin1'), artist: Buffer.from('Mädchen für alles', 'latin1') }
// The texts below are: Кино, Группа крови; 坂本九, 上を向いて歩こう; then Mikołaj, żółć in Windows-1250 and 青花瓷 in GBK, two
// encodings that cannot be distinguished from others.
const hex = (text: string) => Buffer.from(text, 'hex')
const CYRILLIC = { title: hex('c3f0f3efefe020eaf0eee2e8'), artist: hex('cae8edee') }
const JAPANESE = { title: hex('8fe382f08cfc82a282c495e082b182a4'), artist: hex('8de2967b8be3') }
const CURLY = { title: hex('42657374206f662074686520383092732c'), artist: hex('506c616e20934294') }
const READ_CURLY = { title: 'Best of the 80’s,', artist: 'Plan “B”' }
const POLISH = { title: hex('4d696b6fb3616a'), artist: hex('bff3b3e6') }
const CHINESE = { title: hex('c7e0bba8b4c9'), artist: hex('d6dcbddcc2d7') }

/** ID3v1 (id3.org): 30-byte fields with no declared encoding. */
function v1({ title, artist }: typeof LATIN): Buffer {
  const field = (text: Buffer, length = 30) =>
    Buffer.concat([text.subarray(0, length), Buffer.alloc(length)]).subarray(0, length)
  const end = [field(Buffer.alloc(0)), Buffer.from('1988'), field(Buffer.from([0]), 28), Buffer.from([0, 7, 17])]
  return Buffer.concat([bare, Buffer.from('TAG'), field(title), field(artist), ...end])
}

/** ID3v2.3 (id3.org) whose frames declare Latin-1. */
function v2(frames: Record<string, Buffer>): Buffer {
  const body = Buffer.concat(
    Object.entries(frames).map(([name, text]) => {
      const head = Buffer.alloc(11)
      head.write(name)
      head.writeUInt32BE(text.length + 1, 4)
      return Buffer.concat([head, text])
    }),
  )
  const { length } = body
  const size = [21, 14, 7, 0].map((shift) => (length >> shift) & 127)
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([3, 0, 0, ...size]), body, bare])
}

describe('tags whose encoding is undeclared or declared incorrectly', () => {
  it.each([
    ['Latin-1', LATIN, { title: 'Über den Wolken', artist: 'Mädchen für alles' }],
    ['Windows-1251', CYRILLIC, { title: 'Группа крови', artist: 'Кино' }],
    ['Shift-JIS', JAPANESE, { title: '上を向いて歩こう', artist: '坂本九' }],
    [
      'UTF-8 cut within a character',
      { title: Buffer.from('Ünïcödé für alle, übera€'), artist: Buffer.from('ß') },
      { title: 'Ünïcödé für alle, übera', artist: 'ß' },
    ],
    ['an unrecognized encoding', CHINESE, {}],
    ['Windows-1252 with quotes', CURLY, READ_CURLY],
  ])('are decoded or dropped in ID3v1: %s', async (_, bytes, expected) => {
    const { result } = await make(v1(bytes), ['mp3-128'])
    expect(result.tags).toEqual({ ...expected, date: '1988', year: 1988, genre: 'Rock', track_number: 7 })
  })

  it.each([
    ['Latin-1', LATIN, { title: 'Über den Wolken', artist: 'Mädchen für alles' }],
    ['Windows-1251', CYRILLIC, { title: 'Группа крови', artist: 'Кино' }],
    ['Shift-JIS', JAPANESE, { title: '上を向いて歩こう', artist: '坂本九' }],
    ['UTF-8', { title: Buffer.from('Ünï'), artist: Buffer.from('坂本九') }, { title: 'Ünï', artist: '坂本九' }],
    ['an ambiguous encoding', POLISH, {}],
    ['an unrecognized encoding', CHINESE, {}],
    ['Windows-1252 with quotes', CURLY, READ_CURLY],
    [
      'Latin-1 with one unrecognized text',
      { title: Buffer.from('1ère à 25°C, A×B', 'latin1'), artist: CHINESE.artist },
      { title: '1ère à 25°C, A×B' },
    ],
    [
      'Latin-1 with mostly accented letters',
      { title: hex('dcc7'), artist: hex('4f6720defa') },
      { title: 'ÜÇ', artist: 'Og Þú' },
    ],
  ])('are decoded or dropped in ID3v2 that declares Latin-1: %s', async (_, { title, artist }, expected) => {
    const { result } = await make(v2({ TIT2: title, TPE1: artist }), ['mp3-128'])
    expect(result.tags).toEqual(expected)
  })
})

describe('tags with a declared encoding', () => {
  const titles = ['Best of the 80’s', 'Plan “B”', 'Og þú', 'Üç Öö', 'CAFÉ’S', 'Þú']
  it.each(['flac', 'm4a', 'mp3', 'webm'] as const)('are unchanged in %s', async (format) => {
    const [title, artist, album, composer, genre, album_artist] = titles as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const texts = { title, artist, album, composer, genre, album_artist }
    const { result } = await make(await aTagged(format, texts), ['mp3-128'])
    expect(result.tags).toEqual(texts)
  })

  it('may have names in any script', async () => {
    const { result } = await make(await aTagged('flac', { GRÖßE: 'klein' }), ['mp3-128'])
    expect(result.info.tags).toMatchObject({ größe: 'klein' })
  })

  it('are read after any number of other long tags', async () => {
    const others = Array.from({ length: 80 }, (_, i) => [`CUSTOM${i}`, 'x'.repeat(1000)])
    const { result } = await make(await aTagged('flac', { ...Object.fromEntries(others), ...TAGS }), ['mp3-128'])
    expect(result.tags).toEqual(READ)
  })
})

describe('malformed tags', () => {
  it('of a megabyte are truncated and do not fail the job', async () => {
    const long = Buffer.from('x'.repeat(1_000_000))
    const source = v2({
      TIT2: Buffer.concat([Buffer.from('Long '), long]),
      TPE1: Buffer.from('  \t '),
      TALB: Buffer.from('A\0\0'),
      TRCK: Buffer.from('99999/3'),
      TXXX: long,
    })
    const { result, probe } = await make(source, ['mp3-128'], { tags: untouched })
    expect(result.tags).toEqual({ title: `Long ${'x'.repeat(250)}`, album: 'A' })
    expect(JSON.stringify(result.info).length).toBeLessThan(20_000)
    expect((await probe('mp3-128')).tags.title).toHaveLength(255)
  })

  it('lose control characters, direction marks and split surrogate pairs', async () => {
    const title = `\u202eevil\u2066\u061c \u0007bell\r\nnext ${'😀'.repeat(200)}`
    const { result } = await make(await aTagged('flac', { title, date: 'about 1970', track: 'A1' }), ['mp3-128'])
    expect(result.tags).toEqual({ title: `evil bell next ${'😀'.repeat(120)}` })
  })

  it.each([
    [{ date: '1970-02-99' }, '1970-02'],
    [{ date: 'about 1970', year: '1971' }, '1971'],
  ])('keep the valid part of the date in %j', async (tags, date) => {
    const { result } = await make(await aTagged('flac', tags), ['mp3-128'])
    expect(result.tags).toMatchObject({ date })
  })
})
