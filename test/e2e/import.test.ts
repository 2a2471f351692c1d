import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { type FeedItem, parseFeed } from '../../scripts/import/feed.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { runCommand } from '../support/drill.ts'
import { type Answer, answerOf, feedOf, ITEMS, KEYS } from './import_sources.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, TIMEOUT } from './steps.ts'

/** `npm run import -- rss | s3 | list` with a server on this machine, from which the service fetches the audio (docs/import.md). */

let stack: Shared
let client: Client
let directory: string
let origin: string
let audio: Buffer
let cover: Buffer
/** The answers of the server by path. */
const files = new Map<string, Buffer | string | Answer>()
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url!, 'http://host')
  const found = files.get(pathname) ?? files.get('*')
  if (typeof found === 'function') return void found(request, response)
  response.writeHead(found === undefined ? 404 : 200).end(found)
})

const run = (args: string[], options: Parameters<typeof runCommand>[3] = {}) =>
  runCommand('import', stack, args, { ...options, env: { TONEARM_KEY: stack.api_key, ...options.env } })
const tracksOf = async (collection_id: string) => {
  const options = { params: { collection_id }, query: { include: 'ids,state' } } as const
  return (await must(client.get('/v1/collection/{collection_id}/track', options as never))).tracks
}
const collectionsOf = async (title: string) =>
  (await must(client.get('/v1/collection'))).collections.filter((each) => each.title === title)

beforeAll(async () => {
  ;[stack, directory, audio, cover] = await Promise.all([
    joinStack(),
    mkdtemp(join(tmpdir(), 'tonearm-import-')),
    makeAudio('mp3', { seconds: 1 }),
    makeImage('jpeg', 500, 500),
  ])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  files.set('/cover.jpg', cover)
  files.set('/two', audio)
  for (const name of ['one', 'two', 'three']) files.set(`/${name}.mp3`, audio)
}, 300_000)
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  if (directory) await rm(directory, { recursive: true })
})

test(
  'a podcast is imported once, although runs are killed and overlap, and keeps its order when episodes are added',
  TIMEOUT,
  async () => {
    files.set('/chapters.json', JSON.stringify({ version: '1.2.0', chapters: [{ startTime: 0, title: 'Start' }] }))
    files.set('/feed', feedOf(origin, [ITEMS[0]!, ITEMS[2]!]))
    const dry = await run(['rss', `${origin}/feed`, '--dry-run'])
    expect(dry).toMatchObject({ code: 0, output: expect.stringContaining('would be: 2 taken') })
    expect(await collectionsOf('Counting')).toEqual([])

    // The third track is created, but its chapters never arrive.
    expect((await run(['rss', `${origin}/feed`])).output).toContain('2 taken')
    // The second page repeats an item, as if an episode had appeared meanwhile.
    files.set('/feed', feedOf(origin, [...ITEMS.slice(0, 2), '<atom:link rel="next" href="/page-2"/>']))
    files.set('/page-2', feedOf(origin, ITEMS.slice(1)))
    const chapters = files.get('/chapters.json')!
    files.set('/chapters.json', () => undefined)
    expect((await run(['rss', `${origin}/feed`], { killAt: /1 in progress/ })).code).toBe(null)
    const { id } = (await collectionsOf('Counting'))[0]!
    const created = await tracksOf(id)
    expect(created.map((track) => track.organization_index)).toContain('unfinished: two')
    // An episode that had a cover when its track was created.
    const { id: track_id } = created.find((track) => track.organization_index === 'three')!
    const body = { organization_index: 'unfinished: three' }
    await must(client.put('/v1/track/{track_id}', { params: { track_id }, body }))

    files.set('/chapters.json', chapters)
    const runs = await Promise.all([run(['rss', `${origin}/feed`]), run(['rss', `${origin}/feed`])])
    for (const { code, output } of runs) expect(code, output).toBe(0)
    // As after a run that was killed before it ordered its tracks.
    const track_ids = (await tracksOf(id)).map((track) => track.id).toReversed()
    const params = { collection_id: id }
    await must(client.put('/v1/collection/{collection_id}/track/order', { params, body: { track_ids } }))
    const again = await run(['rss', `${origin}/feed`])
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('0 taken, 3 skipped, 0 refused') })

    expect(await collectionsOf('Counting')).toMatchObject([
      {
        player_subtitle: 'Ana',
        organization_index: 'podcast:counting',
        metadata: { podcast: { description: 'About numbers' } },
      },
    ])
    const tracks = await tracksOf(id)
    expect(tracks.map(({ organization_index, status }) => [organization_index, status])).toEqual([
      ['one', 'ready'],
      ['two', 'ready'],
      ['three', 'ready'],
    ])
    const [one, two, three] = tracks as [(typeof tracks)[0], (typeof tracks)[0], (typeof tracks)[0]]
    expect(one.episode).toMatchObject({ type: 'trailer', published_at: '2026-03-01T06:00:00.000Z', season: null })
    expect(two).toMatchObject({
      player_title: 'Two & a half',
      tags: { artist: 'A guest' },
      file_name: 'Two & a half.mp3',
    })
    expect(three.episode).toMatchObject({
      season: 2,
      number: 3,
      explicit: true,
      description: 'Some **notes** with [a link](https://example.com/a)\n\n- first\n- second',
    })
    const { chapters: kept } = await must(client.get('/v1/track/{track_id}/chapters', { params: { track_id: two.id } }))
    expect(kept).toEqual([{ startTime: 0, title: 'Start' }])
    // Covers have been uploaded: that of the collection, and a separate one.
    expect(two.image_colors).not.toEqual([])
  },
)

/** The parts of an episode that a podcast app shows. */
const shown = ({ guid: _guid, image: _image, enclosure, chapters, ...item }: FeedItem) => ({
  ...item,
  enclosure: enclosure?.type,
  chapters: Boolean(chapters),
})

test('the feed of a share is imported so that its own feed is the same', TIMEOUT, async () => {
  const { id } = (await collectionsOf('Counting'))[0]!
  const settings = {
    author: 'Ana',
    email: 'ana@example.com',
    language: 'en',
    category: 'Arts > Books',
    copyright: '© 2026 Ana',
    type: 'serial',
    block: true,
  } as const
  const body = { collection_id: id, is_downloadable: true, text: 'About **numbers**.\n\nAll of them', feed: settings }
  const { share } = await must(client.post('/v1/share', { body }))
  const feed = await (await fetch(share.feed_url!)).text()
  // The service does not fetch from itself, so this server passes the files on.
  const { origin: service } = new URL(stack.base_url)
  files.set('/ours.xml', feed.replaceAll(service, origin))
  files.set('*', (request, response) => {
    void fetch(service + request.url).then(async (file) =>
      response
        .writeHead(file.status, { 'content-type': file.headers.get('content-type')! })
        .end(Buffer.from(await file.arrayBuffer())),
    )
  })
  const locked = await run(['rss', `${origin}/ours.xml`, '--feed'])
  expect(locked).toMatchObject({ code: 1, output: expect.stringContaining('The feed is locked') })
  const { code, output } = await run(['rss', `${origin}/ours.xml`, '--feed', '--ignore-lock'])
  expect(code, output).toBe(0)
  const published = /The feed is (\S+)/.exec(output)![1]!
  const again = await run(['rss', `${origin}/ours.xml`, '--feed', '--ignore-lock'])
  expect(again.output).toContain(`0 taken, 3 skipped, 0 refused, of 3\nThe feed is ${published}`)
  files.delete('*')
  const [before, after] = [parseFeed(feed), parseFeed(await (await fetch(published)).text())]
  const { items, guid, image, self, link } = before
  expect({ ...after, items, guid, image, self, link }).toEqual(before)
  expect(after.items.map(shown)).toEqual(before.items.map(shown))
  expect(after.items.map(({ chapters }) => chapters !== '')).toEqual([false, true, false])
  expect(after.items.map(({ title }) => title)).toEqual(['Trailer', 'Two & a half', 'Three'])
})

test(
  'folders of a bucket become collections, and a file that failed is imported by the next run',
  TIMEOUT,
  async () => {
    const objects = new Map([
      ['music/B side/2 last.mp3', null],
      ['music/B side/10 bonus.mp3', audio],
      ['music/B side/cover.jpg', cover],
      ['music/a & b+c.mp3', audio],
      ['music/notes.txt', Buffer.from('Notes')],
    ])
    files.set('*', answerOf(objects))
    const env = { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey }
    const args = ['s3', 'bucket/music/', '--endpoint', origin, '--region', 'auto']
    const refused = await run(args, { env: { ...env, AWS_SECRET_ACCESS_KEY: 'OTHER' } })
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('its server answered 403. Check --endpoint'),
    })
    const first = await run(args, { env })
    expect(first).toMatchObject({ code: 1, output: expect.stringContaining('2 taken, 0 skipped, 1 refused') })
    expect(first.output).toMatch(/refused {2}\d "music\/B side\/2 last.mp3": .*source_not_found/)
    expect(first.output).not.toContain('X-Amz')
    objects.set('music/B side/2 last.mp3', audio)
    const second = await run(args, { env })
    expect(second).toMatchObject({ code: 0, output: expect.stringContaining('1 taken, 2 skipped, 0 refused') })
    files.delete('*')

    const folder = (await collectionsOf('B side'))[0]!
    expect(folder.image_colors).not.toEqual([])
    expect((await tracksOf(folder.id)).map(({ file_name }) => file_name)).toEqual(['2 last.mp3', '10 bonus.mp3'])
    const top = (await collectionsOf('music'))[0]!
    expect(await tracksOf(top.id)).toMatchObject([
      { file_name: 'a & b+c.mp3', organization_index: `${origin}/bucket/music/a%20%26%20b%2Bc.mp3` },
    ])
  },
)

test('a list names the items that are refused, and imports the others in its order', TIMEOUT, async () => {
  const list = join(directory, 'list.csv')
  const rows = [
    'order,url,title,artist,date,collection,cover,index',
    `2,${origin}/two.mp3?token=secret-1,"The ""second"", really",Ana,2026-11,Old tapes,,`,
    `1,${origin}/one.mp3,First,,,Old tapes,${origin}/missing.jpg,tape-1`,
    `,${stack.base_url.replace('localhost', '127.0.0.1')}/health,Inside,,,Old tapes,,`,
    `,http://169.254.169.254/latest,Metadata,,,Old tapes,,`,
    `,${origin}/three.mp3,Again,,,Old tapes,,tape-1`,
    `,${origin}/three.mp3,Dated,,yesterday,Old tapes,,`,
  ]
  await writeFile(list, rows.join('\r\n'))
  const { code, output } = await run(['list', list])
  expect(code, output).toBe(1)
  for (const line of [
    'refused  3 "Inside": its URL must not be a port of this service',
    'refused  4 "Metadata": its URL must have the name of a host',
    'refused  5 "Again": it has the same identifier as 2 "First"',
    'refused  6 "Dated": its date is not like 2026, 2026-11 or 2026-11-28',
    'note     2 "First": imported without its cover: its server answered 404',
    '2 taken, 0 skipped, 4 refused, 1 without a part (see the notes), of 6',
  ])
    expect(output).toContain(line)
  expect(output).not.toContain('secret')
  const collection = (await collectionsOf('Old tapes'))[0]!
  expect(await tracksOf(collection.id)).toMatchObject([
    { player_title: 'First', organization_index: 'tape-1' },
    {
      player_title: 'The "second", really',
      organization_index: `${origin}/two.mp3`,
      tags: { artist: 'Ana', date: '2026-11' },
    },
  ])
  // The same file with another signature is the same item.
  await writeFile(list, rows.slice(0, 3).join('\n').replace('secret-1', 'secret-2'))
  expect(await run(['list', list])).toMatchObject({ code: 0, output: expect.stringContaining('0 taken, 2 skipped') })
  expect((await run(['list', list, '--collection', 'Old tapes'])).code).toBe(2)
})
