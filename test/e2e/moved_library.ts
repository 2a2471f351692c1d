import { createHash } from 'node:crypto'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Manifest } from '../../scripts/backup/manifest.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Row } from '../../src/contract/backup.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import type { Target } from '../support/drill.ts'
import { anOrganization } from './shared_stack.ts'
import { bytes, must, settle, upload } from './steps.ts'

/** An organization with a resource of each kind, for the test that moves it, and edits of its export. */

export const LISTENER = 'student 7'

/** Creates the organization. */
export async function aLibrary(stack: Target, webhook_url: string) {
  const { organization_id, api_key } = await anOrganization(stack)
  const client = createClient({ base_url: stack.base_url, api_key })
  const variant = { name: 'Teaser', codec: 'mp3', bitrate: 64, type: 'preview', start: 0, length: 1 } as const
  await must(client.post('/v1/variant', { body: variant }))
  const collection = await must(
    client.post('/v1/collection', { body: { title: 'It’s; \n moved', metadata: { a: [1] } } }),
  )
  const { collection_id } = collection
  const cover = { body: bytes(await makeImage('png')), headers: { 'content-type': 'image/png' } }
  await fetch(collection.collection_cover_upload.upload_url, { method: 'POST', ...cover })
  const other = await must(client.post('/v1/collection', { body: { title: 'Other', organization_index: 'other' } }))
  const audio = await makeAudio('mp3', { seconds: 1 })
  const names = ['one.mp3', 'moved.mp3', 'trashed.mp3']
  const created = await Promise.all(names.map((name) => upload(client, collection_id, name, audio)))
  for (const { track_id } of created) await settle(client, track_id)
  const [one, moved, trashed] = created.map(({ track_id }) => track_id) as [string, string, string]
  const broken = await upload(client, other.collection_id, 'broken.mp3', Buffer.from('no audio'))
  await settle(client, broken.track_id)
  const waiting = await must(client.post('/v1/track', { body: { collection_id, file_name: 'waiting.mp3' } }))
  const change = { action: 'move' as const, track_id: moved, collection_id: other.collection_id }
  await must(client.post('/v1/track/batch', { body: { changes: [change] } }))
  const chapters = { chapters: [{ startTime: 0, title: 'Start' }] }
  await must(client.put('/v1/track/{track_id}/chapters', { params: { track_id: one }, body: chapters }))
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'All' } }))
  const track_ids = [one, moved, trashed]
  await must(client.put('/v1/playlist/{playlist_id}/track', { params: { playlist_id }, body: { track_ids } }))
  await must(client.delete('/v1/track/{track_id}', { params: { track_id: trashed }, query: { trash: 'true' } }))
  const gone = await must(client.post('/v1/playlist', { body: { title: 'Gone' } }))
  await must(
    client.delete('/v1/playlist/{playlist_id}', {
      params: { playlist_id: gone.playlist_id },
      query: { trash: 'true' },
    }),
  )
  const shared = { scope: 'collection' as const, id: collection_id, slug: 'first-slug', password: 'open sesame' }
  const { share_id } = await must(client.post('/v1/share', { body: shared }))
  await must(client.put('/v1/share/{share_id}', { params: { share_id }, body: { slug: 'moved-slug' } }))
  await must(client.post('/v1/api_key', { body: { title: 'Page', type: 'player', collection_id } }))
  await must(client.post('/v1/upload_session', { body: { collection_id } }))
  const endpoint = await must(
    client.post('/v1/webhook_endpoint', { body: { url: webhook_url, events: ['collection.*'] } }),
  )
  const session = await must(client.post('/v1/play_session/track', { body: { track_id: one, listener: LISTENER } }))
  const listens = [{ track: one, ranges: [[0, 0.9]] }]
  const report = { visit: one.replaceAll('-', '').slice(16), sequence: 1, age: 1, first: 0, listens }
  await must(client.post('/v1/heard/{token}', { params: { token: session.heard_token }, body: report }))
  const { webhook_endpoint_id } = endpoint
  return { client, api_key, organization_id, collection_id, one, moved, waiting: waiting.track_id, webhook_endpoint_id }
}
export type MovedLibrary = Awaited<ReturnType<typeof aLibrary>>

/** The paths that answer alike before and after, besides those of `readEverything`. */
export const pathsOf = ({ organization_id, one, collection_id }: MovedLibrary) => [
  `/v1/organization/${organization_id}`,
  '/v1/usage',
  '/v1/event',
  `/v1/listener/${encodeURIComponent(LISTENER)}/progress`,
  `/v1/stats/organization/${organization_id}`,
  `/v1/track/${one}/retention`,
  `/v1/track/${one}/chapters`,
  '/v1/track?q=moved',
  `/v1/collection/${collection_id}/track?status=ready`,
]

export const readManifest = async (place: string) =>
  JSON.parse(await readFile(join(place, 'manifest.json'), 'utf8')) as Manifest
export const fileOf = ({ backup_id }: Manifest, place: string, name: string) =>
  join(place, `backups/${backup_id}/${name}.ndjson`)

/** Returns the lines of a file of an export, in an order that does not depend on the service. */
export async function linesOf(place: string, name: string): Promise<Row[]> {
  const text = await readFile(fileOf(await readManifest(place), place, name), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.toSorted().map((line) => JSON.parse(line) as Row)
}

/**
 * Copies an export, changes the first row of a file for which `edit` returns another row, and corrects the checksums, as an attacker would. Resolves to the directory.
 */
export async function edited(place: string, name: string, edit: (row: Row) => Row | undefined): Promise<string> {
  const copy = `${place}-edited`
  await rm(copy, { recursive: true, force: true })
  await cp(place, copy, { recursive: true })
  const manifest = await readManifest(copy)
  const file = fileOf(manifest, copy, name)
  const rows = await linesOf(copy, name)
  const at = rows.findIndex((row) => edit({ ...row }))
  if (at < 0) throw new Error(`no row of ${name} was edited`)
  rows[at] = edit(rows[at]!)!
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await writeFile(file, text)
  for (const source of manifest.sources) {
    const files = source.kind === 'bucket' ? [source.index] : source.tables.map((table) => table.file)
    for (const each of files)
      if (join(copy, each.path) === file) each.sha256 = createHash('sha256').update(text).digest('hex')
  }
  await writeFile(join(copy, 'manifest.json'), JSON.stringify(manifest))
  return copy
}

/** Returns an edit that sets columns of a row. */
export const set =
  (values: Row) =>
  (row: Row): Row => ({ ...row, ...values })

/** Edits of an export, each with a part of the message of the import. `stranger` is a collection of another organization. */
export function editsOf({ organization_id, collection_id }: MovedLibrary, stranger: string) {
  const other = '00012345-0000-4000-8000-000000000000'
  const inTrash = (row: Row, change: (content: Row) => Row): Row => ({
    ...row,
    content: JSON.stringify(change(JSON.parse(String(row.content)) as Row)),
  })
  const edits: [table: string, edit: (row: Row) => Row | undefined, message: string][] = [
    ['tracks', set({ organization_id: other }), `belongs to another organization than ${organization_id}`],
    ['tracks', set({ collection_id: other }), `refers to the collection "${other}", which is not in the export`],
    ['tracks', set({ id: '../../etc/passwd' }), 'has an id that no service could have issued'],
    ['tracks', set({ id: collection_id }), 'has an id that another row has too'],
    ['tracks', set({ info: '{' }), 'has a column info that is no JSON'],
    ['tracks', set({ created_at: 'now' }), 'has a column created_at that is no integer'],
    ['tracks', set({ secret: '1' }), 'has the column "secret"'],
    ['tracks', set({ source_suffix: `/../../../${other}/a` }), 'has a column source_suffix that is no part of a path'],
    ['tracks', set({ upload_suffix: '/../a' }), 'has a column upload_suffix that is no part of a path'],
    ['tracks', set({ index: '..' }), 'has a column index that is no part of a path'],
    [
      'tracks',
      (row) => (row.files === null ? undefined : { ...row, folder_id: other }),
      'which is not in the list of objects',
    ],
    [
      'collections',
      (row) => (row.cover_path ? { ...row, cover_path: `media/${other}/a` } : undefined),
      `has the file "media/${other}/a/icon.jpg"`,
    ],
    ['playlist_tracks', set({ track_id: other }), `refers to the track "${other}"`],
    ['playlist_tracks', set({ playlist_id: stranger }), `refers to the playlist "${stranger}"`],
    ['shares', set({ resource_id: stranger }), `refers to the collection "${stranger}"`],
    ['retired_slugs', set({ share_id: other }), `refers to the share "${other}"`],
    ['trash', (row) => inTrash(row, set({ organization_id: other })), 'belongs to another organization'],
    ['trash', (row) => inTrash(row, set({ id: other })), 'contains the row of another id'],
    ['api_keys', set({ expires_at: 1 }), 'has no server key that may do everything and never expires'],
    ['api_keys', set({ may: '["read"]' }), 'has no server key that may do everything and never expires'],
    ['organizations', set({ id: other }), 'belongs to another organization'],
    ['listening', set({ row: '{"a\\" int); drop table self; --":1}' }), 'is not a row of an object'],
    ['objects', set({ path: `media/${other}/a` }), `is not in a folder of the organization ${organization_id}`],
    ['objects', set({ path: `media/${organization_id}/../${other}` }), 'is not in a folder of the organization'],
    ['objects', set({ sha256: 'none' }), 'has no checksums'],
  ]
  return edits
}

/** Uploads a track, plays it and changes its title, as another tenant does meanwhile. */
export async function useService(client: Client, collection_id: string, audio: Buffer): Promise<void> {
  const { track_id } = await upload(client, collection_id, 'meanwhile.mp3', audio)
  await settle(client, track_id)
  const session = await must(client.post('/v1/play_session/track', { body: { track_id } }))
  const params = { play_session_id: session.play_session_id, play_track_id: track_id }
  await must(client.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
}
