import { beforeEach, expect, test, vi } from 'vitest'

import type { Client } from '../../src/studio/base/api.ts'

/** Tests how collections that are made for dropped files get their titles. */

const stored = new Map<string, string>()
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})
beforeEach(() => stored.clear())

function aFile(path: string, type = 'audio/mpeg'): File {
  const file = new File([], path.split('/').at(-1)!, { type })
  if (path.includes('/')) Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}
const naming = () => import('../../src/studio/data/naming.ts')

test('each folder becomes a collection with its name and its picture, without the other files in it', async () => {
  const { groupsOf } = await naming()
  const image = (path: string) => aFile(path, 'image/jpeg')
  const text = aFile('Sea/CD 1/rip.log', 'text/plain')
  const files = [aFile('Sea/CD 1/a.mp3'), aFile('Sea/CD 2/b.mp3'), text, image('Sea/back.jpg')]
  const more = [aFile('Sky/c.mp3'), aFile('Sky/d.mp3'), image('Sky/cover.jpg'), image('Empty/x.png')]
  const groups = groupsOf([...files, ...more, aFile('Interview.wav'), text])
  const named = groups.map(({ title, files, cover }) => [title, files.map(({ name }) => name), cover?.name])
  expect(named).toEqual([
    ['Sea', ['a.mp3', 'b.mp3'], undefined],
    ['Sky', ['c.mp3', 'd.mp3'], 'cover.jpg'],
    ['Interview', ['Interview.wav'], undefined],
  ])
})

test('pictures that belong to different folders stay with the files', async () => {
  const { groupsOf } = await naming()
  const paths = ['A/1/x.mp3', 'A/1/cover.png', 'A/2/y.mp3', 'A/2/cover.png']
  const [group] = groupsOf(paths.map((path) => aFile(path, path.endsWith('png') ? 'image/png' : 'audio/mpeg')))
  expect([group?.files.length, group?.cover]).toEqual([4, null])
})

test('files without a folder are named after a single file, or after what all names start with', async () => {
  const { titleOf } = await naming()
  const named = (...names: string[]) => titleOf(names.map((name) => ({ name })))
  expect(named('Take five.wav')).toBe('Take five')
  expect(named('Field notes 01.mp3', 'Field notes 02.mp3', 'Field notes 10.mp3')).toBe('Field notes')
  expect(named('one.mp3', 'two.mp3')).toBe('New collection')
  expect(named('01 Sea.mp3', '02 Sky.mp3')).toBe('New collection')
})

test('an album is named by most tracks, and its artist by the album, or by all tracks once they are complete', async () => {
  const { albumOf } = await naming()
  const blue = { album: 'Blue', artist: 'Joni' }
  const title = (tracks: Parameters<typeof albumOf>[0]) => albumOf(tracks, true)?.title
  expect(albumOf([{ ...blue, album_artist: 'Mitchell' }], false)).toEqual({ title: 'Blue', artist: 'Mitchell' })
  expect(albumOf([blue, blue], false)).toEqual({ title: 'Blue', artist: undefined })
  expect(albumOf([blue, { ...blue }], true)).toEqual({ title: 'Blue', artist: 'Joni' })
  expect(albumOf([blue, { ...blue, artist: 'Other' }], true)).toEqual({ title: 'Blue', artist: undefined })
  expect(title([blue, blue, { album: 'Red' }, {}])).toBe('Blue')
  expect(title([blue, {}, {}])).toBeUndefined()
  // A single file without an album is named after its own title.
  expect(albumOf([{ title: 'Episode 1', artist: 'Host' }], true)).toEqual({ title: 'Episode 1', artist: 'Host' })
  expect(albumOf([{ title: 'Episode 1' }], false)).toBeNull()
})

/** A service with one collection, and a page that names it. */
async function aCollection(tags: object[], title = 'Folder') {
  vi.resetModules()
  const module = await naming()
  const collection = { id: 'c', title, player_subtitle: '' }
  const changes: object[] = []
  const client = {
    get: async (path: string) =>
      path.endsWith('/track') ? { ok: true, tracks: tags.map((tags) => ({ tags })) } : { ok: true, collection },
    put: async (_: string, { body }: { body: Record<string, string | null> }) => {
      changes.push(body)
      Object.assign(collection, body)
      collection.player_subtitle ??= ''
      return { ok: true, collection: { ...collection } }
    },
  } as unknown as Client
  module.startNaming('c', title, '')
  return { ...module, client, changes, collection }
}
const BLUE = { album: 'Blue', album_artist: 'Joni' }

test('tags name a collection once, and undoing that restores the first title, which stays', async () => {
  const { client, changes, collection, nameFromTags, undoNaming, names } = await aCollection([BLUE])
  await nameFromTags(client, 'c', false)
  expect(changes).toEqual([{ title: 'Blue', player_subtitle: 'Joni' }])
  expect(names.get().c?.isFromTags).toBe(true)
  await nameFromTags(client, 'c', true)
  expect(changes).toHaveLength(1)
  expect(await undoNaming(client, 'c')).toBe('Folder')
  expect(collection).toMatchObject({ title: 'Folder', player_subtitle: '' })
  await nameFromTags(client, 'c', true)
  expect(collection.title).toBe('Folder')
})

test('a title or an artist that a person has typed is never replaced', async () => {
  const typed = await aCollection([BLUE])
  typed.collection.title = 'Typed elsewhere'
  await typed.nameFromTags(typed.client, 'c', true)
  const ended = await aCollection([BLUE])
  ended.endNaming('c')
  await ended.nameFromTags(ended.client, 'c', true)
  expect([typed.changes, ended.changes]).toEqual([[], []])

  // After the first tags, a person changes the title, and then the last tags arrive.
  const late = await aCollection([{ album: 'Blue', artist: 'Joni' }])
  await late.nameFromTags(late.client, 'c', false)
  late.collection.title = 'Typed later'
  await late.nameFromTags(late.client, 'c', true)
  expect(late.changes).toEqual([{ title: 'Blue' }])

  const artist = await aCollection([BLUE])
  artist.collection.player_subtitle = 'Typed'
  await artist.nameFromTags(artist.client, 'c', true)
  expect(artist.changes).toEqual([{ title: 'Blue' }])
})

test('a title that is being typed is not replaced', async () => {
  stored.set('tonearm.drafts', JSON.stringify([['collection/c/title', { text: 'Bl', base: 'Folder' }]]))
  const { client, changes, nameFromTags } = await aCollection([BLUE])
  await nameFromTags(client, 'c', true)
  expect(changes).toEqual([])
})
