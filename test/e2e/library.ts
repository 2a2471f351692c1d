import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'

import { AwsClient } from 'aws4fetch'
import { inject, vi } from 'vitest'

import type { StoredFiles } from '../../src/adapters/bucket/track_files.ts'
import { type PathOwner, trackPath, uploadPath } from '../../src/adapters/bucket/track_paths.ts'
import { createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { query } from './database.ts'
import { anOrganization, type Shared } from './shared_stack.ts'
import { must, settle, TIMEOUT, upload } from './steps.ts'

/**
 * Ready tracks for tests that are not about processing. The pipeline processes each audio once per run and stack, in a separate organization, when a
 * test first needs it. Each test gets a copy.
 */

/** The arguments of `makeAudio`. */
export type Song = Parameters<typeof makeAudio>
/** A tone of twelve seconds for tests that need any track. */
export const SONG: Song = ['mp3', { seconds: 12, channels: 1 }]

type Place = Pick<Shared, 'base_url' | 'root_key' | 'api_key'>
type Row = PathOwner & { index: string; files: string; cover_path: string | null }

/** Creates a ready track in a collection. Resolves to the created track with its upload handles. */
export async function copyTrack(stack: Place, collection_id: string, file_name: string, song: Song) {
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const [made, created] = await Promise.all([
    processed(stack, song),
    must(client.post('/v1/track', { body: { collection_id, file_name } })),
  ])
  const copy = await readRow(stack, created.track_id)
  const [from, to] = [pathsOf(made, made), pathsOf(copy, made)]
  await Promise.all(from.map((path, i) => copyObject(stack, path, to[i]!)))
  // The pipeline changes the row in the same two steps, and triggers write an event for each.
  await query(
    stack,
    `update tracks set status = 'processing', job_id = made.job_id, source_suffix = '', source_size = made.source_size, awaiting_upload = 0
       from (select * from tracks where id = '${made.id}') as made where tracks.id = '${copy.id}';
     update reservations set reserved = 0, uploaded = made.source_size
       from (select * from tracks where id = '${made.id}') as made where track_id = '${copy.id}';
     update tracks set status = made.status, duration = made.duration, info = made.info, tags = made.tags, made_with = made.made_with,
         levels = made.levels, files = made.files, cover_colors = made.cover_colors, cover_size = made.cover_size,
         cover_path = replace(made.cover_path, '${trackPath(made)}', '${trackPath(copy)}'),
         folded = nullif(json_patch(coalesce(tracks.folded, '{}'), coalesce(json_remove(made.folded, '$.file_name'), '{}')), '{}')
       from (select * from tracks where id = '${made.id}') as made where tracks.id = '${copy.id}'`,
  )
  return created
}

/** Returns the paths that the files of a processed track have in the folders of `owner`. */
function pathsOf(owner: Row, { files, cover_path }: Row): string[] {
  const { base, list } = JSON.parse(files) as StoredFiles
  const folder = `${trackPath(owner)}/${base}`
  const images = cover_path ? ['icon', 'small', 'regular', 'large'].map((size) => `${folder}/cover/${size}.jpg`) : []
  return [...list.map(([name]) => (name === 'original' ? uploadPath(owner) : `${folder}/${name}`)), ...images]
}

async function readRow(stack: Place, id: string): Promise<Row> {
  const columns = 'id, organization_id, collection_id, folder_id, "index", files, cover_path'
  const [row] = await query(stack, `select ${columns} from tracks where id = '${id}'`)
  return row as unknown as Row
}

async function copyObject({ base_url }: Place, from: string, to: string): Promise<void> {
  // The keys of the local storage in wrangler.toml.
  const keys = { accessKeyId: 'tonearm-local', secretAccessKey: 'tonearm-local-secret' }
  const s3 = new AwsClient({ ...keys, service: 's3', region: 'auto', retries: 0 })
  const url = `${base_url}/cdn-cgi/local/r2/s3/tonearm-media/${to}`
  const response = await s3.fetch(url, { method: 'PUT', headers: { 'x-amz-copy-source': `/tonearm-media/${from}` } })
  // A picture that is too small has no large cover.
  if (!response.ok && !from.endsWith('/cover/large.jpg'))
    throw new Error(`${from}: ${response.status} ${await response.text()}`)
}

/** Returns the row of the track that the pipeline has made of a song. The first process of the run that needs it uploads the song. */
async function processed(stack: Place, song: Song): Promise<Row> {
  const name = createHash('sha256')
    .update(JSON.stringify([stack.base_url, song]))
    .digest('hex')
  const file = `${inject('stack').started}-${name}`
  const isFirst = await mkdir(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'EEXIST' && Promise.reject(error),
  )
  if (!isFirst) {
    const read = async () => JSON.parse(await readFile(`${file}/row`, 'utf8')) as Row | { problem: string }
    const row = await vi.waitFor(read, { ...TIMEOUT, interval: 50 })
    if ('problem' in row) throw new Error(row.problem)
    return row
  }
  const row = await process(stack, song).catch((error: Error) => ({ problem: error.message }))
  await writeFile(`${file}/new`, JSON.stringify(row))
  await rename(`${file}/new`, `${file}/row`)
  if (!('problem' in row)) return row
  // Those that wait read the problem within moments. A test that runs again tries again.
  setTimeout(() => void rm(file, { recursive: true, force: true }), 5000).unref()
  throw new Error(row.problem)
}

async function process(stack: Place, song: Song): Promise<Row> {
  const { api_key } = await anOrganization(stack)
  const server = createClient({ base_url: stack.base_url, api_key })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Songs' } }))
  const { track_id } = await upload(server, collection_id, 'song', await makeAudio(...song))
  const { status } = await settle(server, track_id)
  if (status !== 'ready') throw new Error(`a song of the library is ${status}: ${JSON.stringify(song)}`)
  return await readRow(stack, track_id)
}
