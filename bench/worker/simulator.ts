import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { onEnd } from './cleanup.ts'
import { type Config, file, MINIFLARE, socket, startWorkerd, type Value } from './workerd.ts'

/**
 * Miniflare's simulators of D1 and R2 in a separate process, with their data on disk. Miniflare itself runs only once, to write its
 * configuration for workerd.
 */

type Module = { name: string; esModule: string }
type Service = { name: string; worker?: { modules: Module[] } }
type Miniflare = { ready: Promise<unknown>; dispose: () => Promise<void> }

/** Name of the database and of the bucket in the simulators. */
const NAME = 'bench'

export async function startSimulator() {
  const state = await mkdtemp(join(tmpdir(), 'tonearm-bench-state-'))
  onEnd(() => rm(state, { recursive: true, force: true }))
  const { services, extensions } = await simulators(state)
  const files: Record<string, string> = {}
  const onFile = (modules: Module[]) =>
    modules.map((module): Value => {
      const name = `${Object.keys(files).length}.js`
      files[name] = module.esModule
      return { ...module, esModule: file(name) }
    })
  const designator = (name: string): Value => ({ name, props: { json: JSON.stringify({ MINIFLARE_NAMESPACE: NAME }) } })
  const config: Config = {
    services: [
      ...services.map((service): Value =>
        service.worker
          ? { ...service, worker: { ...service.worker, modules: onFile(service.worker.modules) } }
          : service,
      ),
      // The simulators send their log to Miniflare, which does not run. Nothing listens on this port.
      { name: 'loopback', external: { address: '127.0.0.1:9', http: {} } },
    ],
    sockets: [socket('d1', designator('d1:db:entry')), socket('r2', designator('r2:bucket:entry'))],
    extensions: extensions.map(({ modules }): Value => ({ modules: onFile(modules) })),
  }
  const workerd = await startWorkerd(config, files)
  return {
    ...workerd,
    query: (sql: string, ...params: (string | number)[]) => query(workerd.url('d1'), sql, params),
  }
}

export type Simulator = Awaited<ReturnType<typeof startSimulator>>

export type Meta = { rows_read: number; rows_written: number; duration: number }
type SqlRow = Record<string, string | number | null>

async function query(url: string, sql: string, params: (string | number)[]): Promise<SqlRow[]> {
  const response = await fetch(`${url}/query`, { method: 'POST', body: JSON.stringify({ sql, params }) })
  const answer = (await response.json()) as { results: SqlRow[] }[] | { error: string }
  if (!Array.isArray(answer)) throw new Error(`${answer.error}: ${sql.slice(0, 200)}`)
  return answer[0]!.results
}

/** Returns the services of both simulators from Miniflare's configuration, and the modules that they import. */
async function simulators(state: string) {
  const { Miniflare, convertV4MiniflareOptions } = (await import(pathToFileURL(MINIFLARE).href)) as {
    Miniflare: new (options: unknown) => Miniflare
    convertV4MiniflareOptions: (options: object) => unknown
  }
  const path = join(state, 'miniflare.json')
  process.env.MINIFLARE_WORKERD_CONFIG_DEBUG = path
  const options = {
    modules: true,
    script: 'export default {}',
    d1Databases: { DB: NAME },
    r2Buckets: { MEDIA: NAME },
    resourcePersistencePath: state,
    cf: false,
  }
  const miniflare = new Miniflare(convertV4MiniflareOptions(options))
  await miniflare.ready
  await miniflare.dispose()
  delete process.env.MINIFLARE_WORKERD_CONFIG_DEBUG
  const config = JSON.parse(await readFile(path, 'utf8')) as {
    services: Service[]
    extensions: { modules: (Module & { internal?: boolean })[] }[]
  }
  return {
    services: config.services.filter(({ name }) => /^(d1:|r2:(bucket|storage))/.test(name)),
    extensions: config.extensions.filter(({ modules }) => modules.every(({ name }) => name.startsWith('miniflare:'))),
  }
}
