import { join } from 'node:path'

import { NODE_FLAGS } from '../container/process/node_flags.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'
import { printer, selectTranscoderLine, workerLineSelector } from './log.ts'
import { root, type Settings } from './settings.ts'

/** How the children are started: wrangler for the database and the Worker, and the transcoder. */

const wrangler = [process.execPath, join(root, 'node_modules/wrangler/bin/wrangler.js')]

// Wrangler takes the secrets that wrangler.toml declares from here when it is told not to read `.dev.vars`.
const wranglerEnv = ({ stateDir, secrets }: Settings): NodeJS.ProcessEnv => ({
  ...process.env,
  ...secrets,
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  // Any other `wrangler dev` on the machine would make ours reload.
  WRANGLER_REGISTRY_PATH: join(stateDir, 'registry'),
  WRANGLER_LOG_PATH: join(stateDir, 'logs'),
  // Wrangler does not start where it cannot make a directory below HOME.
  XDG_CONFIG_HOME: join(stateDir, 'config'),
  NO_COLOR: '1',
  FORCE_COLOR: '0',
})

/** Brings the local database up to date. */
export function startMigration(settings: Settings): Child {
  const migrate = ['d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', settings.stateDir]
  const onLine = printer('database', () => undefined)
  return startChild({ command: [...wrangler, ...migrate], env: wranglerEnv(settings), onLine })
}

/** The Worker with its local D1, R2 and queues. Links lead to `localhost`, because the host is part of a signature. */
export function startWorker(settings: Settings): Child {
  const { port, transcoderPort, stateDir, base_url } = settings
  const vars = {
    PUBLIC_BASE_URL: base_url,
    S3_ENDPOINT: `${base_url}/cdn-cgi/local/r2/s3`,
    TRANSCODER_URL: `http://127.0.0.1:${transcoderPort}`,
    // Wrangler prints a line for each request itself.
    REQUEST_LOG: process.env.REQUEST_LOG || 'false',
    ...(process.env.CHECK_ANSWERS && { CHECK_ANSWERS: process.env.CHECK_ANSWERS }),
    ...(process.env.REUSE_ANSWERS && { REUSE_ANSWERS: process.env.REUSE_ANSWERS }),
  }
  const command = [
    ...wrangler,
    'dev',
    '--ip=127.0.0.1',
    `--port=${port}`,
    '--inspector-port=0',
    `--persist-to=${stateDir}`,
    '--show-interactive-dev-session=false',
    '--env-file=/dev/null',
    ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]
  return startChild({ command, env: wranglerEnv(settings), onLine: printer('worker', workerLineSelector()) })
}

export function startTranscoder(settings: Settings): Child {
  const env: ChildOptions['env'] = {
    ...process.env,
    PORT: String(settings.transcoderPort),
    HOST: '127.0.0.1',
    TRANSCODER_SECRET: settings.secrets.TRANSCODER_SECRET,
    WORK_DIR: join(settings.stateDir, 'transcoder'),
    PARENT_PID: String(process.pid),
  }
  const command = [process.execPath, ...NODE_FLAGS, join(root, 'container/service/server.ts')]
  return startChild({ command, env, onLine: printer('transcoder', selectTranscoderLine) })
}
