import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { type Client, createClient, type ListPath, pages, type Success } from '../../src/client/client.ts'
import type { Calls } from '../../src/contract/client_operations.ts'
import { MAX_SESSION_TTL, MAX_VIEWS } from '../../src/contract/facts.ts'
import { bytesText, Fault, forEachAtOnce, patiently, progressPrinter } from '../backup/service.ts'
import { buildPublic, bundleClassicPlayer } from '../build.ts'
import { type Entry, indexPage, playerPage } from './pages.ts'

/**
 * `npm run export -- --playable`: writes the recordings of an organization as a folder that plays by itself (docs/move.md). It asks the API with a server
 * key, so it needs no operator. A file that exists with the right length is kept, so a command that was stopped continues.
 */

/** Files that are downloaded at once. */
const AT_ONCE = 4
/** The folder to publish. The folder `data` next to it has the addresses of all shares and webhooks, which listeners must not see. */
const SITE = 'site'
/** A player does not renew what ends so late. */
const NEVER = '9999-12-31T23:59:59.000Z'

type Session = Success<Calls['playSession']>
type View = NonNullable<Session['views']>[number]

interface Export {
  client: Client
  to: string
  /** Number and bytes of the files of tracks and covers. */
  files: number
  bytes: number
  /** Tracks without a file to play, with the reason. */
  missing: string[]
  progress: (line: () => string) => void
}

/** Returns an answer of the API. Throws if it is a failure. */
function checked<T extends { ok: boolean }>(answer: T): Extract<T, { ok: true }> {
  if (answer.ok) return answer as Extract<T, { ok: true }>
  const { code, message } = answer as T & { code?: string; message?: string }
  throw new Fault(`${code}: ${message}`)
}

/** Returns all rows of a list. */
async function all<T>(client: Client, path: ListPath, name: string, options?: object): Promise<T[]> {
  const rows: T[] = []
  for await (const page of pages(client, path, options as never))
    rows.push(...(checked(page) as unknown as Record<string, T[]>)[name]!)
  return rows
}

/** Writes a file under another name first, so that a file with its name is always complete. */
async function write(path: string, contents: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.part`, contents)
  await rename(`${path}.part`, path)
}

const writeJson = ({ to }: Export, name: string, value: unknown) =>
  write(join(to, 'data', `${name}.json`), `${JSON.stringify(value, null, 2)}\n`)

const sizeOf = async (path: string) => (await stat(path).catch(() => null))?.size

/** Downloads a file, unless it exists with its size. */
async function download(job: Export, url: string, name: string): Promise<void> {
  const path = join(job.to, SITE, name)
  const response = await patiently(url, () => ({}))
  if (!response.ok || !response.body) throw new Fault(`${name}: the storage responded with ${response.status}`)
  const size = Number(response.headers.get('content-length'))
  if ((await sizeOf(path)) === size) await response.body.cancel()
  else {
    await mkdir(dirname(path), { recursive: true })
    const file = await open(`${path}.part`, 'w')
    await pipeline(Readable.fromWeb(response.body as never), file.createWriteStream())
    const written = await sizeOf(`${path}.part`)
    if (written !== size)
      throw new Fault(`${name}: ${written} of ${size} bytes arrived. Run the same command again; it continues.`)
    await rename(`${path}.part`, path)
  }
  job.files++
  job.bytes += size
  job.progress(() => `${job.files} files of tracks and covers, ${bytesText(job.bytes)}`)
}

/** The last two parts of a URL's path, of which the first is that of the job: a file that was made again has another name. */
const nameIn = (url: string) => decodeURIComponent(new URL(url).pathname).split('/').slice(-2).join('-')

/** Downloads the files and covers of a play view. Returns the view with URLs that are relative to a page, and without those that need the service. */
async function take(job: Export, view: View): Promise<View> {
  const folder = `media/${view.track_id}`
  const wanted = new Map<string, string>()
  const local = <T extends { url: string }>(file: T): T => {
    const name = `${folder}/${nameIn(file.url)}`
    wanted.set(name, file.url)
    return { ...file, url: `../${name}` }
  }
  const { icon, small, regular } = view.cover_image
  const taken = {
    ...view,
    variants: view.variants.map(local),
    cover_image: { icon: local(icon), small: local(small), regular: local(regular) },
    large_cover: view.large_cover && local(view.large_cover),
    chapter_files: null,
  }
  await forEachAtOnce([...wanted], AT_ONCE, ([name, url]) => download(job, url, name))
  return taken
}

/**
 * Writes the page of a collection or playlist, with the files of its tracks. Returns its entry on the first page; null if it has nothing to play. The
 * URLs of five tracks are requested at a time, because they end after an hour.
 */
async function writePlayer(
  job: Export,
  scope: 'collection' | 'playlist',
  id: string,
  title: string,
): Promise<Entry | null> {
  const { client } = job
  const owner = { [`${scope}_id`]: id } as { collection_id: string }
  const body = { ...owner, expires_in: MAX_SESSION_TTL }
  const { play_session_id } = checked(await client.post(`/v1/play_session/${scope as 'collection'}`, { body }))
  const read = async (from?: string) =>
    checked(
      await client.get('/v1/play/{play_session_id}', {
        params: { play_session_id },
        query: { views: `${MAX_VIEWS}`, ...(from !== undefined && { from }) },
      }),
    )
  const session = await read()
  const views = new Map<string, View>()
  for (const { id: track_id, player_title } of session.tracks) {
    if (views.has(track_id)) continue
    const { views: next = [] } = await read(track_id)
    for (const view of next) if (!views.has(view.track_id)) views.set(view.track_id, await take(job, view))
    if (!views.has(track_id))
      job.missing.push(`${title}: ${player_title} (${track_id}) has no file yet, or could not be processed`)
  }
  const tracks = session.tracks.filter((track) => views.has(track.id))
  const [first] = views.values()
  if (!first) {
    if (session.tracks.length === 0) job.missing.push(`${title}: it has no tracks`)
    return null
  }
  // A made-up id takes the place of the session's, with which every reader of the page could play from the service for a day.
  const play_session = { ...first.play_session, id: randomUUID(), expires_at: NEVER, is_downloadable: false }
  const shown = [...views.values()].map((view) => ({ ...view, play_session_id: play_session.id, play_session }))
  const { list } = session
  const page = { play_session_id: play_session.id, play_session, list, tracks, first_track: shown[0], views: shown }
  const folder = `${scope}s`
  await write(join(job.to, SITE, folder, `${id}.html`), playerPage(title, page))
  const count = tracks.length === 1 ? '1 recording' : `${tracks.length} recordings`
  return {
    href: `${folder}/${id}.html`,
    title,
    subtitle: count,
    cover: first.cover_image.regular.url.replace('../', ''),
  }
}

/** Copies the player. A page from a server loads the module, with its languages; a page from the disk the classic script. */
async function copyPlayer({ to }: Export): Promise<void> {
  if (!process.env.TONEARM_BUILT) await buildPublic()
  const built = join(import.meta.dirname, '../../dist/public')
  await write(join(to, SITE, 'elements/player.classic.js'), await bundleClassicPlayer())
  const modules = ['elements/player.js']
  for (const name of modules) {
    const code = await readFile(join(built, name), 'utf8')
    await write(join(to, SITE, name), code.replace(/^\/\/# sourceMappingURL=.*$/m, ''))
    for (const [, found] of code.matchAll(/["'](?:\.\.\/assets|\.)\/([\w-]+\.js)["']/g))
      if (!modules.includes(`assets/${found}`)) modules.push(`assets/${found}`)
  }
}

/** Writes the checksums of all files, in the form that `sha256sum -c` reads. */
async function writeChecksums({ to }: Export): Promise<void> {
  const entries = await readdir(to, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(to, join(entry.parentPath, entry.name)))
  const lines: string[] = []
  for (const name of files.toSorted()) {
    if (name === 'SHA256SUMS' || name.endsWith('.part')) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(to, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  await write(join(to, 'SHA256SUMS'), lines.join(''))
}

/** The lists that are copied as the API shows them. No secret is among them. */
const LISTS = {
  collections: '/v1/collection',
  playlists: '/v1/playlist',
  variants: '/v1/variant',
  shares: '/v1/share',
  api_keys: '/v1/api_key',
  webhook_endpoints: '/v1/webhook_endpoint',
} satisfies Record<string, ListPath>

/** Writes every resource as the API shows it. */
async function writeResources(job: Export) {
  const { client } = job
  const lists = {} as Record<keyof typeof LISTS, Titled[]>
  for (const [name, path] of Object.entries(LISTS) as [keyof typeof LISTS, ListPath][]) {
    lists[name] = await all<Titled>(client, path, name)
    await writeJson(job, name, lists[name])
  }
  const { organization_id } = lists.api_keys[0]!
  const { organization } = checked(
    await client.get('/v1/organization/{organization_id}', { params: { organization_id } }),
  )
  await writeJson(job, 'organization', organization)
  for (const { id } of lists.playlists) {
    const options = { params: { playlist_id: id } }
    await writeJson(job, `playlists/${id}`, await all(client, '/v1/playlist/{playlist_id}/track', 'tracks', options))
  }
  const listed = await all<Titled>(client, '/v1/track', 'tracks')
  const tracks = new Map<string, object>(listed.map(({ id }) => [id, {}]))
  await forEachAtOnce([...tracks.keys()], AT_ONCE, async (track_id) => {
    const answer = await client.get('/v1/track/{track_id}', { params: { track_id } })
    // A track of the list may have been deleted since.
    if (answer.ok || answer.status !== 404) tracks.set(track_id, checked(answer).track)
    else tracks.delete(track_id)
  })
  await writeJson(job, 'tracks', [...tracks.values()])
  return { ...lists, organization }
}

interface Titled {
  id: string
  title: string
  organization_id: string
}

/** Writes the export. `base_url` is the service, and `api_key` a server key of the organization. */
export async function exportPlayable(base_url: string, api_key: string, to: string): Promise<void> {
  const client = createClient({
    base_url,
    api_key,
    // The client waits for five seconds at most if there were too many requests.
    fetch: (url, init) => patiently(url as string, () => init as RequestInit & { duplex?: 'half' }, false),
  })
  const job: Export = { client, to, files: 0, bytes: 0, missing: [], progress: progressPrinter() }
  await fetch(`${base_url}/v1/limits`, { signal: AbortSignal.timeout(10_000) }).catch(() => {
    throw new Fault(`Nothing answers at ${base_url}. Set --url, or PORT for npm start`)
  })
  await mkdir(to, { recursive: true })
  await copyPlayer(job)
  const { collections, playlists, organization } = await writeResources(job)
  const entries = async (scope: 'collection' | 'playlist', list: Titled[]) => {
    const found: Entry[] = []
    for (const { id, title } of list) {
      const entry = await writePlayer(job, scope, id, title)
      if (entry) found.push(entry)
    }
    return found
  }
  const pagesOf = [await entries('collection', collections), await entries('playlist', playlists)] as const
  await write(join(to, SITE, 'index.html'), indexPage(organization.name, ...pagesOf, new Date().toISOString()))
  await writeChecksums(job)
  for (const line of job.missing) console.log(`left out: ${line}`)
  console.log(
    `${job.files} files of tracks and covers, ${bytesText(job.bytes)}. Open ${join(to, SITE, 'index.html')}, or copy the folder ${join(to, SITE)} to any web space.`,
  )
}
