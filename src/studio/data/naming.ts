import { DEFAULT_ACCEPT, findCovers, isAccepted } from '../../client/upload/accept.ts'
import { MAX_STRING, withoutExtension } from '../../contract/facts.ts'
import type { Client, Listed } from '../base/api.ts'
import { t } from '../base/text.ts'
import { draftOf } from '../ui/edit/drafts.ts'
import { usesTags } from './organization.ts'
import { createStore } from './store.ts'
import { renewCollection } from './views.ts'

/** The titles of collections that were made for dropped files: from the folder or the file at first, and then from the tags. */

/** Files that become one collection. */
export interface Group {
  /** The title before the tags are known. */
  title: string
  files: File[]
  /** A picture next to the files, which becomes the cover of the collection. */
  cover: File | null
}

const folderOf = (file: File) => /^[^/]+(?=\/)/.exec(file.webkitRelativePath ?? '')?.[0] ?? ''

/** Groups files by the folder that was dropped. Files without a folder are one group. Folders without audio are left out. */
export function groupsOf(files: readonly File[]): Group[] {
  const folders = Map.groupBy(files, folderOf)
  return [...folders].flatMap(([folder, all]): Group[] => {
    const covers = findCovers(all, {})
    const pictures = new Set(covers.values())
    const songs = all.filter((file) => isAccepted(file, DEFAULT_ACCEPT))
    // One picture for all files is that of the collection. Several pictures belong to their folders.
    const [cover] = pictures
    const isShared = pictures.size === 1 && covers.size === songs.length
    // A folder of music often has texts and pictures. A single file that is not accepted gets a row with the reason.
    const sent = folder ? all.filter((file) => songs.includes(file) || pictures.has(file)) : all
    if (folder && songs.length === 0) return []
    return [
      {
        title: (folder || titleOf(all)).slice(0, MAX_STRING),
        files: isShared ? sent.filter((file) => file !== cover) : sent,
        cover: isShared ? cover! : null,
      },
    ]
  })
}

/** Returns a title for files without a folder: the name of a single file, or what all names start with. */
export function titleOf(files: readonly Pick<File, 'name'>[]): string {
  const names = files.map(({ name }) => withoutExtension(name))
  const [first = '', ...others] = names
  if (others.length === 0) return first || t('New collection')
  let end = first.length
  for (const name of others) while (!name.startsWith(first.slice(0, end))) end--
  const start = first.slice(0, end).replace(/[^\p{L}\p{M})\]!?]+$/u, '')
  return start.length > 2 ? start : t('New collection')
}

interface Album {
  title: string
  artist: string | undefined
}

/** Returns the value that all tracks with a value have. */
function shared(values: readonly (string | undefined)[]): string | undefined {
  const known = new Set(values.map((value) => value?.trim()).filter(Boolean))
  return known.size === 1 ? [...known][0] : undefined
}

/**
 * Returns the album of at least half of the tracks, or null. The artist is the album artist. Without one, it is the artist that all tracks have, if all
 * files of the upload are known (`isComplete`).
 */
export function albumOf(tracks: readonly Listed['tags'][], isComplete: boolean): Album | null {
  const albums = Map.groupBy(tracks, ({ album }) => album?.trim() ?? '')
  albums.delete('')
  const [title, members] = [...albums].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? ['', []]
  if (title && members.length * 2 >= tracks.length) {
    const artist = shared(members.map(({ album_artist }) => album_artist))
    return { title, artist: artist ?? (isComplete ? shared(members.map(({ artist }) => artist)) : undefined) }
  }
  const [only] = tracks
  if (!isComplete || tracks.length !== 1 || !only?.title) return null
  return { title: only.title, artist: only.artist }
}

/** A collection whose title is not typed by a person. */
interface Name {
  /** The title and the subtitle that it had at last. Others are those of a person, and stay. */
  title: string
  subtitle: string
  /** The title before that of the tags. */
  first: string
  isFromTags: boolean
  /** Whether the tags of all files are known, so that the title no longer changes. */
  isComplete: boolean
}

const STORED = 'tonearm.names'
export const names = createStore<Readonly<Record<string, Name>>>(
  JSON.parse(globalThis.sessionStorage?.getItem(STORED) ?? '{}'),
)

function setName(id: string, name: Name | null): void {
  const { [id]: _, ...others } = names.get()
  const all = name ? { ...others, [id]: name } : others
  sessionStorage.setItem(STORED, JSON.stringify(all))
  names.set(all)
}

/** Lets the tags of the files name a collection that was made for them. */
export const startNaming = (id: string, title: string, subtitle: string) =>
  setName(id, { title, subtitle, first: title, isFromTags: false, isComplete: false })

/** Keeps the title of a collection, because a person has typed one. */
export function endNaming(id: string): void {
  if (names.get()[id]) setName(id, null)
}

export function forgetNames(): void {
  sessionStorage.removeItem(STORED)
  names.set({})
}

async function change(client: Client, id: string, body: { title?: string; player_subtitle?: string | null }) {
  const answer = await client.put('/v1/collection/{collection_id}', { params: { collection_id: id }, body })
  if (!answer.ok) return null
  renewCollection(id)
  return answer.collection
}

/** The largest number of tracks whose tags are read. */
const TAGS_READ = 200

/** Names a collection after the tags of its tracks, unless a person has typed a title. With `isComplete`, all files have arrived and are processed. */
export async function nameFromTags(client: Client, id: string, isComplete: boolean): Promise<void> {
  const name = names.get()[id]
  if (!name || name.isComplete || !usesTags()) return
  const params = { collection_id: id }
  const [list, read] = await Promise.all([
    client.get('/v1/collection/{collection_id}/track', {
      params,
      query: { status: ['ready', 'incomplete'], limit: TAGS_READ },
    }),
    client.get('/v1/collection/{collection_id}', { params }),
  ])
  // The name may have ended meanwhile.
  if (names.get()[id] !== name) return
  if (!list.ok || !read.ok) {
    if (!read.ok && read.status === 404) endNaming(id)
    return
  }
  const { title, player_subtitle } = read.collection
  if (title !== name.title || draftOf(`collection/${id}/title`)) return endNaming(id)
  const album = albumOf(
    list.tracks.map(({ tags }) => tags),
    isComplete,
  )
  const artist = player_subtitle === name.subtitle && !draftOf(`collection/${id}/subtitle`) ? album?.artist : undefined
  const body = {
    ...(album && album.title !== title && { title: album.title }),
    ...(artist && artist !== player_subtitle && { player_subtitle: artist }),
  }
  const isChanged = Object.keys(body).length > 0
  const changed = isChanged ? await change(client, id, body) : read.collection
  if (!changed || names.get()[id] !== name) return
  setName(id, {
    ...name,
    title: changed.title,
    subtitle: body.player_subtitle ? changed.player_subtitle : name.subtitle,
    isFromTags: name.isFromTags || isChanged,
    isComplete,
  })
}

/** Returns to the title before that of the tags. Resolves to the title, or to null if the service could not be reached. */
export async function undoNaming(client: Client, id: string): Promise<string | null> {
  const name = names.get()[id]
  if (!name) return null
  const changed = await change(client, id, { title: name.first, player_subtitle: null })
  if (changed) endNaming(id)
  return changed && changed.title
}
