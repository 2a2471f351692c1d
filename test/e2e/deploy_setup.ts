import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, vi } from 'vitest'

import { type Cloudflare, startFakeCloudflare } from '../support/cloudflare/server.ts'
import type { Shared } from './shared_stack.ts'

/** Runs `npm run deploy` with the real wrangler against a fake account. A real stack answers requests to the deployed service. */

export const root = join(import.meta.dirname, '../..')
export const CHECKED = ['--image', 'docker.io/example/tonearm-transcoder:1']
/** Without the doctor, which takes seconds. */
export const IMAGE = [...CHECKED, '--skip-doctor']
const SCRIPT = [process.execPath, 'scripts/deploy.ts']
const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'

/**
 * Starts a fake account whose deployed service is the shared stack. Requests with the uploaded root key are sent to it
 * with the stack's own. The service reports no organization until a test changes that. `change` may replace a response of the service.
 */
export function playAccount(
  stack: Shared,
  change = async (_pathname: string, response: Response) => response,
): Promise<Cloudflare> {
  const played = startFakeCloudflare(async (request) => {
    const { account } = await played
    const { pathname, search } = new URL(request.url)
    const isBroken = [pathname, `${request.method} ${pathname}`].includes(account.brokenPath)
    if (isBroken) return Response.json({ ok: false, code: 'internal' }, { status: 500 })
    const bearer = request.headers.get('authorization')?.replace('Bearer ', '')
    const isRoot = [...account.workers.values()].some(({ secrets }) => secrets.ROOT_KEY === bearer)
    const headers = {
      ...(bearer && { authorization: `Bearer ${isRoot ? stack.root_key : bearer}` }),
      'content-type': request.headers.get('content-type') ?? 'application/json',
    }
    const { method } = request
    const body = method === 'POST' || method === 'PUT' ? await request.arrayBuffer() : null
    const response = await change(pathname, await fetch(stack.base_url + pathname + search, { method, headers, body }))
    if (!response.ok || pathname !== '/v1/organization' || method !== 'GET' || account.hasOrganization) return response
    return Response.json({ ...(await response.json()), count: 0 })
  })
  return played
}

/** The environment in which `npm run deploy` and wrangler use a fake account instead of Cloudflare. */
export const environmentOf = ({ url, account }: Cloudflare) => ({
  CLOUDFLARE_API_BASE_URL: `${url}/client/v4`,
  CLOUDFLARE_API_TOKEN: account.token,
  S3_ENDPOINT: `${url}/s3`,
  DOCKER_HUB_URL: url,
  PUBLIC_BASE_URL: url,
})

/** The same, for a run without a terminal. */
const settingsOf = (cloudflare: Cloudflare) => ({
  ...environmentOf(cloudflare),
  CI: '',
  WRANGLER_DOCKER_BIN: '/nowhere/docker',
  WRANGLER_LOG: 'log',
  // Wrangler is large. The compile cache shortens its start by a third.
  NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
})

/** Starts the script without a terminal. */
export function startDeploy(
  cloudflare: Cloudflare,
  args: string[],
  environment: NodeJS.ProcessEnv = {},
  [program = '', ...programArgs] = SCRIPT,
) {
  const env = { ...process.env, ...settingsOf(cloudflare), ...environment }
  cloudflare.changes = []
  const child = spawn(program, [...programArgs, ...args], { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (output += part))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, output, changes: cloudflare.changes }))
  return { stdin: child.stdin, output: () => output, ended }
}

/** Runs the script as a process, and resolves with its exit code and its output. */
export const deployAsProcess = (...how: Parameters<typeof startDeploy>) => startDeploy(...how).ended

/**
 * Runs the script in this process, which imports wrangler only once and not in a second for each run. Without another `--config`, it deploys a Worker without
 * code.
 */
export async function deploy(cloudflare: Cloudflare, args: string[], environment: NodeJS.ProcessEnv = {}) {
  const { runDeploy } = await import('../../scripts/deploy.ts')
  const { argv, env } = process
  let output = ''
  const print = (...parts: unknown[]) => void (output += `${parts.join(' ')}\n`)
  const write = (part: unknown) => {
    output += String(part)
    return true
  }
  const spies = [
    ...(['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(print)),
    ...(['stdout', 'stderr'] as const).map((name) => vi.spyOn(process[name], 'write').mockImplementation(write)),
  ]
  const config = args.includes('--config') ? undefined : writeConfig()
  process.env = { ...env, ...settingsOf(cloudflare), ...environment }
  process.argv = [process.execPath, ...SCRIPT.slice(1), ...(config ? ['--config', config] : []), ...args]
  cloudflare.changes = []
  try {
    return { code: await runDeploy(), output, changes: cloudflare.changes }
  } finally {
    Object.assign(process, { argv, env })
    for (const spy of spies) spy.mockRestore()
    if (config) rmSync(config)
  }
}

let configs = 0

/**
 * Writes a changed copy of wrangler.toml to the root, and returns its path. Its Worker has no code and few files, because the simulated account runs no
 * Worker, and bundling ours takes half of the time of a deployment.
 */
function writeConfig(change = (text: string) => text): string {
  const path = join(root, `.deploy-test-${process.pid}-${++configs}.toml`)
  const text = readFileSync(join(root, 'wrangler.toml'), 'utf8')
    .replace(/^main = .*$/m, 'main = "test/support/cloudflare/empty_worker.ts"')
    .replace('"./dist/public"', '"./test/support/cloudflare"')
  writeFileSync(path, change(text))
  return path
}

/** Returns the path of such a copy, which exists until the test file ends. */
export function aConfig(change?: (text: string) => string): string {
  const path = writeConfig(change)
  afterAll(() => rmSync(path))
  return path
}

/** Runs the doctor with a root key against the service of a fake account. */
export const runDoctor = (cloudflare: Cloudflare, ROOT_KEY: string) =>
  startDeploy(cloudflare, ['--url', cloudflare.url], { ROOT_KEY, TONEARM_KEY: '' }, [
    process.execPath,
    'scripts/doctor.ts',
  ]).ended

/** Runs the real wrangler against a fake account. */
export const startWrangler = (cloudflare: Cloudflare, args: string[]) =>
  startDeploy(cloudflare, args, { CLOUDFLARE_ACCOUNT_ID: cloudflare.account.id }, [process.execPath, WRANGLER])

export const wrangler = (...how: Parameters<typeof startWrangler>) => startWrangler(...how).ended
