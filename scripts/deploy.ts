import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { type Account, ApiError, type AccountState, connectAccount, Refusal } from './deploy/account.ts'
import { withConfig } from './deploy/config.ts'
import { enableReplication } from './deploy/database.ts'
import { attachMediaDomain, retireKeys } from './deploy/media_domain.ts'
import { migrate } from './deploy/migrate.ts'
import { placesOf } from './deploy/place.ts'
import { isBuiltHere, type Plan, readPlan } from './deploy/plan.ts'
import { preflight } from './deploy/preflight.ts'
import { configureBucket, createResources } from './deploy/resources.ts'
import {
  endpointOf,
  deleteSavedRootKey,
  savedRootKey,
  requireRootKey,
  secretsToSet,
  verifyKeyPair,
} from './deploy/secrets.ts'
import { runDoctor, waitUntilServed, welcome } from './deploy/welcome.ts'
import { runNode, runProgram, runWrangler } from './deploy/wrangler.ts'
import { ADDRESSES } from './shared/settings.ts'

/**
 * `npm run deploy`: creates everything that the service needs in a Cloudflare account (docs/deploy.md, docs/decisions/0034). It checks all
 * requirements before it changes anything. Existing resources are kept, so it is safe to run it again.
 */

const title = (text: string) => console.log(`\n== ${text}`)

async function deploy(plan: Plan): Promise<void> {
  title('requirements')
  const account = await connectAccount(plan.account_id)
  const found = await preflight(plan, account)
  requireRootKey(found)
  if (plan.isDry) return console.log('\nNothing was changed. Without --dry-run this would be deployed.')

  title('browser code and transcoder')
  if (!process.env.TONEARM_BUILT && !(await runNode('scripts/build.ts')))
    throw new Refusal('The build failed. Nothing was changed.')
  // The image is built now, so that a failure is reported before the deployment. After the Worker, wrangler builds it again from Docker's
  // cache.
  if (!plan.leavesContainer && !plan.vars.TRANSCODER_URL && isBuiltHere(plan)) await buildImage(plan)

  title('bucket, queues, database')
  const database = await createResources(plan, account, found)
  await configureBucket(plan, account, found)
  await enableReplication(account, database)
  if ('R2_ACCESS_KEY_ID' in found.pair) await verifyKeyPair(plan, account.id, found.pair, true)

  if (found.media) {
    title('media domain')
    await attachMediaDomain(plan, account, found.media)
  }

  title('migrations')
  await migrate(plan, account, database)

  title('Worker and container')
  const secrets = secretsToSet(plan, account.id, found)
  await upload(plan, account, found, database, secrets)
  if (found.media) await retireKeys(account.token, found.media)

  title('the service')
  const root_key = secrets.ROOT_KEY ?? savedRootKey(plan, account.id) ?? process.env.ROOT_KEY
  await waitUntilServed(found.url, root_key)
  console.log(`${found.url} serves.`)
  if (!process.env.CI) {
    const newKey = savedRootKey(plan, account.id)
    if (newKey) console.log(`\nROOT_KEY, shown this once; it creates organizations. Keep it:\n\n  ${newKey}`)
    if (root_key && !plan.isEmpty) await welcome(found.url, root_key)
    deleteSavedRootKey(plan, account.id)
  }

  if (plan.isEmpty)
    console.log(`
The service is empty. Next, set the SIGNING_SECRET of the backup and restore it (docs/backup.md#restore-a-backup):

  ROOT_KEY=… npm run restore -- --from /backups/tonearm --url ${found.url}`)
  if (plan.skipsDoctor) return
  title('the doctor')
  await runDoctor(plan, found, database, root_key)
}

async function buildImage(plan: Plan): Promise<void> {
  const docker = process.env.WRANGLER_DOCKER_BIN || 'docker'
  const context = dirname(plan.config)
  if (!(await runProgram(docker, 'build', '--platform', 'linux/amd64', '-f', resolve(context, plan.image), context)))
    throw new Refusal('The image cannot be built; see the output of Docker above. Nothing was changed.')
}

async function upload(
  plan: Plan,
  account: Account,
  found: AccountState,
  database: string,
  secrets: Record<string, string>,
): Promise<void> {
  const vars = { ...plan.vars, ...placesOf(plan, found), S3_ENDPOINT: endpointOf(plan, account.id) }
  const isKept = ([name, value]: [string, string]) =>
    !value &&
    ADDRESSES.includes(name) &&
    !plan.cleared.includes(name) &&
    found.bindings?.some((binding) => binding.name === name)
  const varArguments = Object.entries(vars)
    .filter((variable) => !isKept(variable))
    .flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const domain = found.domain ? ['--domain', found.domain] : []
  const rollout = plan.leavesContainer ? ['--containers-rollout=none'] : []
  const folder = mkdtempSync(join(tmpdir(), 'tonearm-deploy-'))
  try {
    const file = join(folder, 'secrets.json')
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    const secretArguments = Object.keys(secrets).length > 0 ? ['--secrets-file', file] : []
    const args = [...varArguments, ...domain, ...rollout, ...secretArguments]
    const run = (config: string) => runWrangler(account.id, 'deploy', '--config', config, ...args)
    const isDeployed = await withConfig(plan, found, database, run)
    if (isDeployed) return
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const key = savedRootKey(plan, account.id) ? ' The new ROOT_KEY is kept in .wrangler/deploy until then.' : ''
  throw new Refusal(`wrangler deploy failed; see its output above. Fix that and run this again.${key}`)
}

/** Runs the command with the arguments of the process. Returns the exit code. */
export async function runDeploy(): Promise<number> {
  try {
    await deploy(readPlan())
    return 0
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof ApiError)) throw error
    const plan =
      error instanceof ApiError && error.code === 100129 ? '\nSwitch on Workers Paid. Nothing was changed.' : ''
    console.error(`\nFAILED: ${error.message}${plan}`)
    return 1
  }
}

if (import.meta.main) process.exitCode = await runDeploy()
