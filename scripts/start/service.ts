import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { TRANSCODER } from '../../container/bundle.ts'
import { NODE_FLAGS } from '../../container/process/node_flags.ts'
import { type Child, type ChildOptions, startChild } from '../shared/child_process.ts'
import { MIGRATIONS_TABLE, readMigrations, replacedMigrations, migrationText } from '../shared/migrations.ts'
import { localVars, root, type Settings } from '../shared/settings.ts'
import { printer, selectTranscoderLine, workerLineSelector } from '../shared/terminal.ts'
import { explainDatabaseFault, outdatedDatabase } from './state_faults.ts'

/** Starts the children: wrangler for the database and the Worker, and the transcoder. */

const wrangler = [process.execPath, join(root, 'node_modules/wrangler/bin/wrangler.js')]

// With `--env-file`, wrangler reads the secrets and addresses that wrangler.toml declares from its environment.
const wranglerEnv = (settings: Settings): NodeJS.ProcessEnv => ({
  ...process.env,
  ...settings.secrets,
  ...localVars(settings),
  // `npm start` builds at the same time.
  TONEARM_BUILT: '1',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  // Disables the traces of requests. They are not used, and take a third more time than the requests themselves.
  X_LOCAL_OBSERVABILITY: 'false',
  // Without a separate registry, another `wrangler dev` on the machine would make this one reload.
  WRANGLER_REGISTRY_PATH: join(settings.stateDir, 'registry'),
  WRANGLER_LOG_PATH: join(settings.stateDir, 'logs'),
  // Wrangler fails to start if it cannot create a directory below HOME.
  XDG_CONFIG_HOME: join(settings.stateDir, 'config'),
  NO_COLOR: '1',
  FORCE_COLOR: '0',
})

/**
 * Starts the migration of the local database. Returns undefined if the database is up to date. Throws if other migrations created it. Applies all migrations with one command,
 * because
 * `d1 migrations apply` takes four times as long.
 */
export function startMigration(settings: Settings): Child | undefined {
  const { stateDir } = settings
  const applied = appliedTo(stateDir)
  const migrations = readMigrations(join(root, 'drizzle'))
  if (replacedMigrations(applied ?? [], migrations).length > 0) throw new Error(outdatedDatabase(stateDir))
  const missing = migrations.filter(({ name }) => !applied?.includes(name))
  if (missing.length === 0) return undefined
  const file = join(stateDir, 'migrations.sql')
  writeFileSync(file, [MIGRATIONS_TABLE, ...missing.map(migrationText)].join('\n'))
  const command = applied ? ['execute', 'DB', '--yes', '--file', file] : ['migrations', 'apply', 'DB']
  const migrate = ['d1', ...command, '--local', '--persist-to', stateDir]
  const onLine = printer('database', () => undefined)
  return startChild({ command: [...wrangler, ...migrate], env: wranglerEnv(settings), onLine })
}

/**
 * Returns the names of the migrations that were applied to a local database; undefined if it has no table of migrations. Throws an error with the
 * remedy if the database cannot be read or written.
 */
function appliedTo(stateDir: string): string[] | undefined {
  const path = databaseFile(stateDir)
  if (!path) return []
  try {
    using database = new DatabaseSync(path)
    database.exec('begin immediate')
    return database
      .prepare('select name from d1_migrations')
      .all()
      .map(({ name }) => String(name))
  } catch (error) {
    const { message } = error as Error
    if (message.includes('no such table')) return undefined
    throw new Error(explainDatabaseFault(stateDir, [message]), { cause: error })
  }
}

/** Returns the path of the database file in a state directory, if it exists. Its name is a hash. */
export function databaseFile(stateDir: string): string | undefined {
  const d1 = join(stateDir, 'v3/d1/miniflare-D1DatabaseObject')
  const name = existsSync(d1) && readdirSync(d1).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
  return name ? join(d1, name) : undefined
}

/** The line that wrangler prints after the death of one of its two workerd processes. */
const CRASH = 'runtime crashed unexpectedly'

/** Variables of the Worker that the environment may set, for tests. */
const OVERRIDES = ['CHECK_ANSWERS', 'REUSE_ANSWERS', 'MEDIA_DELIVERY', 'MEDIA_BASE_URL', 'MEDIA_KEY']

/** Starts the Worker with local D1, R2 and queues. Calls `onCrash` when wrangler reports a crash of workerd. */
export function startWorker(settings: Settings, inspectorPort: number, onCrash: () => void): Child {
  const { port, stateDir } = settings
  const { D1_FAULT_RATE } = process.env
  const vars = {
    // The transcoder has the same setting (startTranscoder).
    SOURCE_LOCAL: 'true',
    // Wrangler passes on the address that a client claims.
    CLIENT_IP_HEADER: '',
    // The Worker does not log requests, because wrangler already prints a line for each.
    REQUEST_LOG: process.env.REQUEST_LOG || 'false',
    ...Object.fromEntries(OVERRIDES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
    ...(D1_FAULT_RATE && { D1_FAULT_RATE }),
  }
  const command = [
    ...wrangler,
    'dev',
    // Only `npm run chaos` injects faults.
    ...(D1_FAULT_RATE ? ['test/worker/support/faulty_worker.ts'] : []),
    '--ip=127.0.0.1',
    `--port=${port}`,
    `--inspector-port=${inspectorPort}`,
    `--persist-to=${stateDir}`,
    '--show-interactive-dev-session=false',
    '--env-file=/dev/null',
    ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]
  const printLine = printer('worker', workerLineSelector())
  const onLine = (line: string) => {
    if (line.includes(CRASH)) onCrash()
    printLine(line)
  }
  return startChild({ command, env: wranglerEnv(settings), onLine })
}

/**
 * Starts the transcoder, which `bundleTranscoder` must have bundled. With `closedPorts`, a `source_url` may lead to any port of 127.0.0.1 except these
 * (docs/upload.md#from-a-url).
 */
export function startTranscoder(settings: Settings, closedPorts?: number[]): Child {
  const env: ChildOptions['env'] = {
    ...process.env,
    PORT: String(settings.transcoderPort),
    HOST: '127.0.0.1',
    TRANSCODER_SECRET: settings.secrets.TRANSCODER_SECRET,
    WORK_DIR: join(settings.stateDir, 'transcoder'),
    PARENT_PID: String(process.pid),
    ...(closedPorts && { SOURCE_LOCAL: 'true', SOURCE_CLOSED_PORTS: closedPorts.join() }),
  }
  const command = [process.execPath, ...NODE_FLAGS, TRANSCODER]
  return startChild({ command, env, onLine: printer('transcoder', selectTranscoderLine) })
}

/** Runs the cron trigger, because `wrangler dev` does not. */
export const sweep = (base_url: string) =>
  fetch(`${base_url}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`, { signal: AbortSignal.timeout(60_000) })
    .then((response) => response.text())
    .catch(() => {})
/** Milliseconds between two of these. */
export const SWEEP_INTERVAL = 10_000
