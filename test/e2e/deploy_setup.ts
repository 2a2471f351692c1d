import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { vi } from 'vitest'

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

/** Milliseconds after which a run should have ended. A deployment that is wrongly not refused would wait for its service for minutes. */
const PLANNED_WITHIN = 180_000

/**
 * Runs the script in this process, which imports wrangler only once and not in a second for each run. Only for runs that end before the deployment, because
 * the output of the programs that it starts is not captured. Throws if the run does not end.
 */
export async function planDeploy(cloudflare: Cloudflare, args: string[], environment: NodeJS.ProcessEnv = {}) {
  const { runDeploy } = await import('../../scripts/deploy.ts')
  const { argv, env } = process
  let output = ''
  const print = (...parts: unknown[]) => void (output += `${parts.join(' ')}\n`)
  const spies = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(print))
  process.env = { ...env, ...settingsOf(cloudflare), ...environment }
  process.argv = [process.execPath, ...SCRIPT.slice(1), ...args]
  cloudflare.changes = []
  try {
    const code = await Promise.race([
      runDeploy(),
      sleep(PLANNED_WITHIN, undefined, { ref: false }).then(() => {
        throw new Error(`the deployment was neither refused nor a dry run:\n${output}`)
      }),
    ])
    return { code, output, changes: cloudflare.changes }
  } finally {
    Object.assign(process, { argv, env })
    for (const spy of spies) spy.mockRestore()
  }
}

export const deploy = (...how: Parameters<typeof startDeploy>) => startDeploy(...how).ended

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
