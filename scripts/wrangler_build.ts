import { connect } from 'node:net'

import { buildPublic } from './build.ts'
import { readSecrets } from './shared/secrets.ts'
import { DEV_VARS, localVars, readSettings, type Settings } from './shared/settings.ts'
import { readDemo } from './start/demo.ts'
import { startMigration } from './start/service.ts'
import { explainDatabaseFault } from './start/state_faults.ts'
import { lockState } from './start/state_lock.ts'

/**
 * The custom build of wrangler.toml: builds dist/public, and prepares this machine for `wrangler dev` (docs/decisions/0074). Wrangler runs it
 * before it bundles the Worker, and `wrangler dev` runs it again after each change in `src`. Commands that have built already set
 * TONEARM_BUILT.
 */

async function prepare(settings: Settings): Promise<void> {
  // Fails if `npm start` runs with the same data: both would claim the same jobs.
  lockState(settings.stateDir, settings.base_url)
  if (await isServed(settings)) return
  readSecrets(DEV_VARS, localVars(settings))
  const migration = startMigration(settings)
  if (migration && (await migration.exited) !== 0) {
    await migration.closed
    throw new Error(explainDatabaseFault(settings.stateDir, migration.tail))
  }
  const demo = readDemo(settings.stateDir)
  console.log(`Studio      ${settings.base_url}/${demo ? `#key=${demo.secret}` : ''}
Transcoder  run \`npm run transcoder\` in a second terminal: it also prints keys, and runs the cron trigger`)
}

/** Whether `wrangler dev` has started already. */
const isServed = ({ port }: Settings): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost' })
    socket.once('connect', () => resolve(socket.destroy().destroyed))
    socket.once('error', () => resolve(false))
  })

try {
  const { WRANGLER_COMMAND } = process.env
  if (WRANGLER_COMMAND !== 'types') await buildPublic()
  if (WRANGLER_COMMAND === 'dev') await prepare(readSettings())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
