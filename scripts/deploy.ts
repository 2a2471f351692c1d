import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unstable_readConfig as readConfig } from 'wrangler'

/**
 * `npm run deploy`: everything a Cloudflare account needs for this service, step by step through wrangler (docs/deploy.md). What is
 * there already stays, so it may be repeated. `--dry-run` prints the commands only; other arguments go to `wrangler deploy`.
 */

const root = join(import.meta.dirname, '..')
const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'
const config = readConfig({ config: join(root, 'wrangler.toml') }, { hideWarnings: true })
const dryRun = process.argv.includes('--dry-run')
const more = process.argv.slice(2).filter((argument) => argument !== '--dry-run')

const account = process.env.CLOUDFLARE_ACCOUNT_ID || (dryRun ? '$CLOUDFLARE_ACCOUNT_ID' : '')
const bucket = config.r2_buckets[0]?.bucket_name ?? ''
const database = config.d1_databases[0]?.database_name ?? ''
const queues = (config.queues.consumers ?? []).map(({ queue }: { queue: string }) => queue)
/** The first consumer of wrangler.toml: R2 tells it of uploads. */
const ingestQueue = queues[0] ?? ''
const endpoint = `https://${account}.r2.cloudflarestorage.com`

const random = () => randomBytes(32).toString('hex')
const MADE: Record<string, () => string> = {
  ROOT_KEY: () => `ta_root_${random()}`,
  SIGNING_SECRET: random,
  TRANSCODER_SECRET: random,
}

class Refusal extends Error {}

const title = (text: string) => console.log(`\n== ${text}`)

function node(script: string, args: string[], stdio: 'inherit' | 'pipe') {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  return spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, env, stdio, encoding: 'utf8' })
}

const show = (args: string[]) => console.log(`$ npx wrangler ${args.join(' ')}`)

/** Shows a wrangler command and runs it; what it prints is for the person at the terminal. */
function wrangler(...args: string[]): void {
  show(args)
  if (!dryRun && node(WRANGLER, args, 'inherit').status !== 0)
    throw new Refusal(`wrangler ${args[0]} … failed; what it says is above`)
}

/** Runs a wrangler command without showing it. In a dry run there is no account to look into. */
function look(...args: string[]): { ok: boolean; output: string } {
  if (dryRun) return { ok: false, output: '' }
  const { status, stdout, stderr } = node(WRANGLER, args, 'pipe')
  return { ok: status === 0, output: `${stdout}${stderr}` }
}

function createUnlessThere(what: string, info: string[], create: string[]): void {
  title(what)
  if (look(...info).ok) return console.log('is there')
  show(create)
  // Its output is advice to edit wrangler.toml, which needs none.
  const { ok, output } = look(...create)
  if (!ok && !dryRun) throw new Refusal(output)
}

/** The secrets that the Worker lacks. Made here, but for R2's pair, which only the dashboard makes. */
function missingSecrets(): Record<string, string> {
  const { ok, output } = look('secret', 'list', '--format', 'json')
  // Anything but "there is no such Worker yet" must not lead to new secrets in place of those in use.
  if (!ok && !dryRun && !/Worker ".*" not found/.test(output))
    throw new Refusal(`wrangler secret list failed:\n${output}`)
  const secrets: Record<string, string> = {}
  for (const name of config.secrets?.required ?? []) {
    const given = name in MADE ? undefined : process.env[name]
    if (given) secrets[name] = given
    else if (ok && output.includes(`"${name}"`)) continue
    else if (MADE[name]) secrets[name] = MADE[name]()
    else if (dryRun) secrets[name] = `$${name}`
    else {
      const how = `In the dashboard (R2, Manage API tokens) make one with "Object Read & Write" for ${bucket}; then`
      throw new Refusal(`${name} is not set. ${how}\n  R2_ACCESS_KEY_ID=… R2_SECRET_ACCESS_KEY=… npm run deploy`)
    }
  }
  return secrets
}

/** Writes the secrets for wrangler to read; the folder is removed at the end. */
function writeSecrets(folder: string, secrets: Record<string, string>): string {
  if (dryRun) return 'secrets.json'
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
  return join(folder, 'secrets.json')
}

function deploy(folder: string): void {
  if (!account) throw new Refusal('CLOUDFLARE_ACCOUNT_ID is not set: `npx wrangler whoami` shows it')
  createUnlessThere(`bucket ${bucket}`, ['r2', 'bucket', 'info', bucket], ['r2', 'bucket', 'create', bucket])
  for (const queue of queues) {
    createUnlessThere(`queue ${queue}`, ['queues', 'info', queue], ['queues', 'create', queue])
  }
  createUnlessThere(`database ${database}`, ['d1', 'info', database], ['d1', 'create', database])

  title('secrets')
  const secrets = missingSecrets()
  const names = Object.keys(secrets)
  console.log(names.length > 0 ? `to be set with the deployment: ${names.join(', ')}` : 'all are set')

  title('migrations')
  wrangler('d1', 'migrations', 'apply', 'DB', '--remote')

  title('browser code, Worker and container')
  console.log('$ node scripts/build.ts')
  if (!dryRun && node('scripts/build.ts', [], 'inherit').status !== 0) throw new Refusal('the build failed')
  const url = process.env.PUBLIC_BASE_URL ? ['--var', `PUBLIC_BASE_URL:${process.env.PUBLIC_BASE_URL}`] : []
  const set = names.length > 0 ? ['--secrets-file', writeSecrets(folder, secrets)] : []
  try {
    wrangler('deploy', '--var', `S3_ENDPOINT:${endpoint}`, ...url, ...set, ...more)
  } finally {
    // Also after a failure: the Worker may have been made before it.
    if (secrets.ROOT_KEY && !dryRun)
      console.log(`\nROOT_KEY, shown this once; it creates organizations:\n\n  ${secrets.ROOT_KEY}`)
  }

  title('what browsers may do with the bucket (CORS)')
  // Everything to everybody: the signature in the URL is the permission.
  wrangler('r2', 'bucket', 'cors', 'set', bucket, '--file', 'scripts/cors.json', '--force')

  title('uploads are told to the ingest queue')
  if (look('r2', 'bucket', 'notification', 'list', bucket).output.includes(ingestQueue)) console.log('is there')
  else {
    const rule = ['--event-type', 'object-create', '--queue', ingestQueue, '--prefix', 'uploads/']
    wrangler('r2', 'bucket', 'notification', 'create', bucket, ...rule)
  }
  console.log(
    dryRun ? '\nNothing was done.' : '\nDeployed. Next: create an organization, and npm run doctor (docs/deploy.md).',
  )
}

const folder = mkdtempSync(join(tmpdir(), 'tonearm-deploy-'))
try {
  deploy(folder)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(`\nFAILED: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
