import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { openStore } from '../../scripts/backup/store.ts'
import { checkExport } from '../../scripts/import/check_export.ts'
import { databaseFile } from '../../scripts/start/service.ts'
import { type Client, createClient, verifyWebhook } from '../../src/client/index.ts'
import type { Row } from '../../src/contract/backup.ts'
import { makeAudio } from '../support/audio.ts'
import { differences, readEverything, receiveWebhooks, runCommand, wrongCounts } from '../support/drill.ts'
import type { Stack } from '../support/stack.ts'
import {
  aLibrary,
  edited,
  editsOf,
  fileOf,
  linesOf,
  type MovedLibrary,
  pathsOf,
  readManifest,
  set,
  useService,
} from './moved_library.ts'
import { joinStack, type Shared, startOther } from './shared_stack.ts'
import { bytes, must, send, settle, TIMEOUT } from './steps.ts'

/**
 * Moves an organization from the stack that all tests share into another one with other tenants (docs/move.md). Each test continues in the state that the
 * previous one left, because the library and its export take seconds of CPU time.
 */

let source: Shared
let target: Stack | undefined
let receiver: Awaited<ReturnType<typeof receiveWebhooks>>
let place: string
let library: MovedLibrary
let audio: Buffer
/** The secret that the import has printed. */
let secret = ''
/** Other tenants of both services. */
let others: { client: Client; collection_id: string }[]

const whileUsed = async <T>(at: 0 | 1, work: Promise<T>): Promise<T> => {
  const { client, collection_id } = others[at]!
  const [result] = await Promise.all([work, useService(client, collection_id, audio)])
  return result
}
const runExport = (options: Parameters<typeof runCommand>[3] = {}) =>
  runCommand('export', source, ['--organization', library.organization_id, '--to', place], options)
const runImport = (from = place, options: Parameters<typeof runCommand>[3] = {}, ...args: string[]) =>
  runCommand('import', target!, ['export', from, ...args], options)
const listOrganizations = async () => {
  const root = createClient({ base_url: target!.base_url, api_key: target!.root_key })
  return (await must(root.get('/v1/organization'))).organizations.map(({ id }) => id)
}
const tenantOf = async (base_url: string, api_key: string) => {
  const client = createClient({ base_url, api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Of another tenant' } }))
  return { client, collection_id }
}

beforeAll(async () => {
  ;[source, target, receiver, place, audio] = await Promise.all([
    joinStack(),
    startOther(),
    receiveWebhooks(),
    mkdtemp(join(tmpdir(), 'tonearm-move-')),
    makeAudio('mp3', { seconds: 1 }),
  ])
  library = await aLibrary(source, receiver.url)
  others = await Promise.all([source, target].map(({ base_url, api_key }) => tenantOf(base_url, api_key)))
}, 300_000)

afterAll(async () => {
  receiver?.close()
  await target?.dispose()
  for (const each of [place, `${place}-again`, `${place}-edited`]) await rm(each, { recursive: true, force: true })
})

test(
  'an export that is killed continues, and names the moment after which changes may be missing',
  TIMEOUT,
  async () => {
    const unknown = await runCommand('export', source, [
      '--organization',
      others[0]!.collection_id,
      '--to',
      `${place}-again`,
    ])
    expect(unknown.output).toContain('has no organization')
    for (const killAt of [/^objects/m, /^rows {6}tracks/m]) {
      const { code, output } = await whileUsed(0, runExport({ killAt }))
      expect(code, output).toBe(null)
      expect(existsSync(join(place, 'manifest.json'))).toBe(false)
    }
    const body = { title: 'It’s; \n changed' }
    await must(library.client.put('/v1/collection/{collection_id}', { params: library, body }))
    const changed = await runExport()
    expect(changed.output).toContain('continues the export')
    expect(changed.output).toMatch(/changed meanwhile, last at 20.*Changes after 20/)
    expect(changed.code, changed.output).toBe(0)
    const again = await whileUsed(0, runExport())
    expect(again.output).toContain(', 0 copied')
    expect(again.output).toContain('was not changed meanwhile')
    expect(again.output).toContain('play_sessions: ')
    expect(again.output).toContain('player key "Page"')
    const texts = await Promise.all(['api_keys', 'webhook_endpoints'].map((name) => linesOf(place, name)))
    for (const row of texts.flat())
      expect(Object.keys(row)).not.toEqual(expect.arrayContaining([expect.stringMatching(/hash|secret/)]))
  },
)

test('an edited export is refused with the row and the reason, and nothing is written', TIMEOUT, async () => {
  const { organization_id } = library
  const stranger = others[1]!.collection_id
  for (const [table, edit, message] of editsOf(library, stranger)) {
    const isServer = (row: Row) => (table === 'api_keys' && row.type !== 'server' ? undefined : edit(row))
    const copy = await edited(place, table, isServer)
    const manifest = await readManifest(copy)
    const tables = manifest.sources.flatMap((each) =>
      each.kind === 'database' ? each.tables.map(({ name }) => name) : [],
    )
    const checked = checkExport(openStore(copy), { ...manifest, organization_id }, tables)
    await expect.soft(checked, `${table}: ${message}`).rejects.toThrow(message)
  }

  const taken = { scope: 'collection' as const, id: stranger, slug: 'taken-slug' }
  await must(others[1]!.client.post('/v1/share', { body: taken }))
  const refused = await runImport(await edited(place, 'shares', set({ slug: 'taken-slug' })))
  expect(refused.output).toContain('has or had the slug taken-slug')
  const damaged = await edited(place, 'tracks', set({}))
  await writeFile(
    fileOf(await readManifest(damaged), damaged, 'tracks'),
    await readFile(fileOf(await readManifest(place), place, 'tracks'), 'utf8').then((text) =>
      text.replace('"status":"failed"', '"status":"ready"'),
    ),
  )
  expect((await runImport(damaged)).output).toContain('has another SHA-256')
  expect((await runCommand('restore', target!, ['--from', place])).output).toContain('npm run import')
  expect((await runImport(place, {}, '--discard')).output).toContain('No import of this organization is unfinished')

  // A file with other bytes is found when it is sent. The import stays invisible, and can be discarded.
  const file = (await linesOf(place, 'objects')).find(({ path }) => String(path).endsWith('.m4a'))!
  const bad = await edited(place, 'objects', set({}))
  await writeFile(join(bad, 'objects', String(file.path)), Buffer.alloc(Number(file.size)))
  const sent = await runImport(bad)
  expect(sent.output).toContain(`${String(file.path)} has another SHA-256`)
  expect(await listOrganizations()).not.toContain(organization_id)
  expect((await runImport(bad, {}, '--discard')).output).toContain('are deleted in the background')
})

test(
  'an import that is killed continues next to another tenant, and every GET and every file is the same',
  TIMEOUT,
  async () => {
    const { organization_id, api_key, one, moved } = library
    const compared = () => true
    const sessionsOf = async (base_url: string, key: string) => {
      const client = createClient({ base_url, api_key: key })
      return Promise.all(
        [one, moved].map(async (track_id) => {
          const session = await must(client.post('/v1/play_session/track', { body: { track_id } }))
          return { play_session_id: session.play_session_id, track_id }
        }),
      )
    }
    /** Play views are compared without their session, which stays in its service. */
    const readAll = async (base_url: string, key: string) => {
      const sessions = await sessionsOf(base_url, key)
      const all = await readEverything(base_url, key, sessions, compared, pathsOf(library))
      const answers = Object.entries(all.answers).map(([path, answer]) => {
        const { play_session_id = '' } = sessions.find((each) => path.includes(each.play_session_id)) ?? {}
        const text = JSON.stringify(answer)
          .replaceAll(/"(heard_token|expires_at|hint)":"[^"]*"/g, '"$1":"OTHER"')
          .replaceAll('"last_used_at":null', '"last_used_at":"USED"')
          .replaceAll(play_session_id || 'none', 'SESSION')
        return [path.replace(play_session_id || 'none', 'SESSION'), JSON.parse(text) as unknown]
      })
      return { ...all, answers: Object.fromEntries(answers) as Record<string, unknown> }
    }
    const seen = await readAll(source.base_url, api_key)

    const discarded = async () =>
      expect((await runImport(place, { killAt: /^imports|FAILED/m })).output).toContain('imports the export')
    await vi.waitFor(discarded, { timeout: 60_000, interval: 1000 })
    for (const killAt of [/^objects/m, /^rows {6}tracks/m, /^rows {6}shares/m]) {
      const { code, output } = await whileUsed(1, runImport(place, { killAt }))
      expect(code, output).toBe(null)
      expect(await listOrganizations()).not.toContain(organization_id)
      expect((await fetch(`${target!.base_url}/s/moved-slug`)).status).not.toBe(200)
    }
    const { code, output } = await whileUsed(1, runImport())
    expect(output).toContain('continues the import')
    expect(code, output).toBe(0)
    secret = /shown only now: (\S+)/.exec(output)![1]!
    expect(output).toContain('player key "Page"')
    expect((await runImport()).output).toContain(`has an organization ${organization_id} already`)

    const found = await readAll(target!.base_url, secret)
    expect(Object.keys(found.files).length).toBe(6)
    expect(differences(seen, found)).toEqual([])
    expect(wrongCounts(databaseFile(target!.state_dir)!)).toEqual([])
    expect((await fetch(`${target!.base_url}/s/moved-slug`)).status).toBe(200)

    // The export of the import has the same rows and the same files.
    await cp(place, `${place}-again`, { recursive: true })
    await rm(`${place}-again/manifest.json`)
    const again = await runCommand('export', target!, ['--organization', organization_id, '--to', `${place}-again`])
    expect(again.code, again.output).toBe(0)
    const differing = [
      'organizations',
      'webhook_endpoints',
      'api_keys',
      'listening',
      'usage_days',
      'tracks',
      'upload_handles',
    ]
    for (const { name } of (await readManifest(place)).sources.flatMap((each) =>
      each.kind === 'database' ? each.tables : [],
    )) {
      if (differing.includes(name)) continue
      expect.soft(await linesOf(`${place}-again`, name), name).toEqual(await linesOf(place, name))
    }
    const filesOf = async (from: string) =>
      (await linesOf(from, 'objects')).map(({ path, sha256, content_type }) => [path, sha256, content_type])
    expect(await filesOf(`${place}-again`)).toEqual(await filesOf(place))
  },
)

test('a key and a webhook of an imported organization work with new secrets', TIMEOUT, async () => {
  const { webhook_endpoint_id, waiting } = library
  const client = createClient({ base_url: target!.base_url, api_key: secret })
  const params = { webhook_endpoint_id }
  const { webhook_endpoint } = await must(client.get('/v1/webhook_endpoint/{webhook_endpoint_id}', { params }))
  expect(webhook_endpoint).toMatchObject({ state: 'paused', reason: 'restored' })
  const rotated = await must(client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/rotate', { params, body: {} }))
  await must(client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/resume', { params }))
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'After' } }))
  const arrived = () => {
    const event = receiver.bodies.find(({ body }) => body.includes(collection_id))
    expect(event).toBeDefined()
    return event!
  }
  const event = await vi.waitFor(arrived, { ...TIMEOUT, interval: 100 })
  expect(await verifyWebhook({ ...event, secret: rotated.secret })).toMatchObject({
    event: { type: 'collection.created' },
  })

  // A track that waited for its file still accepts one.
  const handle = await must(client.post('/v1/track/{track_id}/upload', { params: { track_id: waiting }, body: {} }))
  await send(handle.track_upload, bytes(audio))
  await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id: waiting } }))
  expect(await settle(client, waiting)).toMatchObject({ status: 'ready' })
  expect(wrongCounts(databaseFile(target!.state_dir)!)).toEqual([])
})
