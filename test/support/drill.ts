import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

import { HAS_FINAL_FILES, indexSql } from '../../src/adapters/bucket/track_storage.ts'

/** Steps of a restore drill: a service is backed up and restored into an empty one, and the two are compared. */

const root = join(import.meta.dirname, '../..')

/** A running service. */
export interface Target {
  base_url: string
  root_key: string
}

/** Runs `npm run backup`, `restore`, `export` or `import`. With `killAt`, kills the command when its output matches. Returns null as the code of a killed command. */
export async function runCommand(
  command: 'backup' | 'restore' | 'export' | 'import',
  { base_url, root_key }: Target,
  args: string[],
  { killAt, env = {} }: { killAt?: RegExp; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(root, `scripts/${command}.ts`), ...args, '--url', base_url], {
    env: { ...process.env, ROOT_KEY: root_key, ...env },
    cwd: root,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (killAt?.test(output)) child.kill('SIGKILL')
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** The resources that listeners and customers read. */
export interface Seen {
  /** Responses by path, without what differs between two deployments. */
  answers: Record<string, unknown>
  /** SHA-256 of each file by its path in the bucket. */
  files: Record<string, string>
}

interface Page {
  [list: string]: { id: string }[] | number | boolean
}

/**
 * Reads everything of an organization, and the play views of these sessions with all their files. `isCompared` leaves out tracks; `more` are other
 * paths.
 */
export async function readEverything(
  base_url: string,
  api_key: string,
  sessions: { play_session_id: string; track_id: string }[],
  isCompared: (track_id: string) => boolean,
  more: string[] = [],
): Promise<Seen> {
  const seen: Seen = { answers: {}, files: {} }
  const read = async <T>(path: string, key?: string): Promise<T> => {
    const headers = key ? { authorization: `Bearer ${key}` } : undefined
    const response = await fetchPatiently(`${base_url}${path}`, headers)
    const text = await response.text()
    const { api_request_id: _, ...body } = JSON.parse(text) as { api_request_id?: string }
    const plain = JSON.stringify(body)
      .replaceAll(base_url, 'BASE')
      .replaceAll(/\?X-Amz[^"]*/g, '')
      // The requests of the comparison use the key, which changes this time.
      .replaceAll(/"last_used_at":"[^"]*"/g, '"last_used_at":"USED"')
    seen.answers[path] = { status: response.status, body: JSON.parse(plain) as unknown }
    return JSON.parse(text) as T
  }
  const list = async (path: string, name: string): Promise<string[]> => {
    const ids: string[] = []
    for (;;) {
      const page = await read<Page>(`${path}?limit=100&offset=${ids.length}`, api_key)
      const items = page[name] as { id: string }[]
      ids.push(...items.map(({ id }) => id))
      if (items.length < 100) return ids
    }
  }
  const { answers } = seen
  for (const [path, name] of [
    ['share', 'shares'],
    ['trash', 'trash'],
    ['api_key', 'api_keys'],
    ['variant', 'variants'],
  ] as const)
    await list(`/v1/${path}`, name)
  for (const path of more) await read(path, api_key)
  for (const { track_id } of sessions) await read(`/v1/stats/track/${track_id}`, api_key)
  for (const id of await list('/v1/playlist', 'playlists')) {
    await read(`/v1/playlist/${id}`, api_key)
    await list(`/v1/playlist/${id}/track`, 'tracks')
  }
  for (const id of await list('/v1/collection', 'collections')) {
    await read(`/v1/collection/${id}`, api_key)
    const tracks = await list(`/v1/collection/${id}/track`, 'tracks')
    // The pages of the collection also list tracks that are not compared.
    if (!tracks.every(isCompared))
      for (const path of Object.keys(answers)) if (path.startsWith(`/v1/collection/${id}/track`)) delete answers[path]
    for (const track_id of tracks.filter(isCompared)) {
      await read(`/v1/track/${track_id}`, api_key)
      await read(`/v1/track/${track_id}/variant`, api_key)
    }
  }
  for (const { play_session_id, track_id } of sessions) {
    const view = await read<{ variants?: { url: string }[] }>(`/v1/play/${play_session_id}/${track_id}`)
    for (const { url } of view.variants ?? []) {
      const response = await fetch(url)
      const name = new URL(url).pathname
      if (!response.ok) throw new Error(`${name}: ${response.status}`)
      const hash = createHash('sha256')
      for await (const chunk of response.body!) hash.update(chunk)
      seen.files[name] = hash.digest('hex')
    }
  }
  return seen
}

/** Waits while the caller is above its rate limit. */
async function fetchPatiently(url: string, headers: Record<string, string> = {}): Promise<Response> {
  for (;;) {
    const response = await fetch(url, { headers })
    if (response.status !== 429) return response
    await response.body?.cancel()
    await sleep(1000)
  }
}

/** Returns the differences between two readings, by path. */
export function differences(a: Seen, b: Seen): string[] {
  const flat = ({ answers, files }: Seen) =>
    new Map(
      [...Object.entries(answers), ...Object.entries(files)].map(([path, value]) => [path, JSON.stringify(value)]),
    )
  const [one, other] = [flat(a), flat(b)]
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((path) =>
    one.get(path) === other.get(path) ? [] : [`${path}\n  ${one.get(path)}\n  ${other.get(path)}`],
  )
}

/** Returns the counts and the usage in a database that differ from a recount of its rows. */
export function wrongCounts(file: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true })
  const rows = (sql: string) => database.prepare(sql).all() as Record<string, string | number>[]
  const counts = [
    ['organizations', 'organizations', `'organizations'`],
    ...['api_keys', 'collections', 'playlists', 'shares', 'trash'].map((name) => [
      name,
      name,
      `'${name}:' || organization_id`,
    ]),
    ['tracks', 'tracks', `'tracks:' || collection_id`],
    ['tracks by status', 'tracks', `'tracks:' || collection_id || '?status=' || status`],
  ]
  const wrong = counts.flatMap(([name, table, list]) => {
    const found = rows(`select list, sum(found) as found, sum(counted) as counted from (
        select ${list} as list, count(*) as found, 0 as counted from ${table} group by 1
        union all select list, 0, count from list_counts where level = 0 and list in (select ${list} from ${table}))
      group by list having sum(found) <> sum(counted)`)
    return found.map((row) => `${name}: ${JSON.stringify(row)}`)
  })
  const usage = rows(`select organization_id, name, sum(bytes) as bytes, sum(files) as files from (
      select organization_id, ${indexSql('(value ->> 0)')} as name, value ->> 1 as bytes, 1 as files
        from tracks, json_each(tracks.files, '$.list') where ${HAS_FINAL_FILES}
      union all select organization_id, key, -(value ->> 0), -(value ->> 1) from usage_days, json_each(usage_days.files))
    group by 1, 2 having sum(bytes) <> 0 or sum(files) <> 0`)
  const lengths = rows(`select organization_id, sum(milliseconds) as milliseconds from (
      select organization_id, cast(round(duration * 1000) as integer) as milliseconds from tracks where ${HAS_FINAL_FILES}
      union all select organization_id, -milliseconds from usage_days)
    group by 1 having sum(milliseconds) <> 0`)
  const searched = rows(`select (select count(*) from search) as searched,
    (select count(*) from tracks) + (select count(*) from collections) + (select count(*) from playlists) as rows`)
  return [
    ...wrong,
    ...[...usage, ...lengths].map((row) => `usage: ${JSON.stringify(row)}`),
    ...searched.flatMap((row) => (row.searched === row.rows ? [] : [`search: ${JSON.stringify(row)}`])),
  ]
}

/** A server on loopback that counts the webhooks that arrive. */
export async function receiveWebhooks() {
  const bodies: { headers: Record<string, string>; body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() })
      response.writeHead(204).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bodies,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
