import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { inject, vi } from 'vitest'
import type { TestProject } from 'vitest/node'

import { buildPublic } from '../../scripts/build.ts'
import { databaseFile } from '../../scripts/start/service.ts'
import { showLog } from '../support/logs.ts'
import { type Stack, startStack } from '../support/stack.ts'

/** The stack that most test files share. Files that stop the stack or block its transcoder start a separate one. */
export interface Shared {
  base_url: string
  /** Server key of an organization that only one test file uses. */
  api_key: string
  organization_id: string
  root_key: string
  dispose: () => Promise<void>
}

type Started = Pick<Stack, 'base_url' | 'root_key' | 'state_dir'> & { problem?: string }

declare module 'vitest' {
  export interface ProvidedContext {
    /** The shared stack: its output (`log`) and its connection data once it is ready (`started`). */
    stack: { log: string; started: string }
  }
}

/**
 * Vitest's global setup of the project `e2e`: builds the web pages once for all stacks and deployments, and starts the shared stack. Test files that do
 * not need the stack can start while it boots.
 */
export default async function startForAll(project: TestProject) {
  await buildPublic()
  process.env.TONEARM_BUILT = '1'
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-shared-'))
  const [log, started] = [join(directory, 'log'), join(directory, 'started')]
  const dispose = startShared(log, started)
  project.provide('stack', { log, started })
  return async () => {
    await (
      await dispose
    )()
    await rm(directory, { recursive: true })
  }
}

/** Starts the shared stack, writes the result to a file next to a copy of the fresh database, and returns its dispose function. */
async function startShared(log: string, started: string): Promise<() => Promise<void>> {
  const nothing = async () => undefined
  const start = async () => {
    const stack = await startStack({ log })
    try {
      using database = new DatabaseSync(databaseFile(stack.state_dir)!)
      database.prepare('vacuum into ?').run(`${started}.sqlite`)
      return stack
    } catch (error) {
      await stack.dispose()
      throw error
    }
  }
  const stack = await start().catch((error: Error) => ({ problem: error.message, dispose: nothing }))
  await writeFile(`${started}.new`, JSON.stringify(stack))
  await rename(`${started}.new`, started)
  return stack.dispose
}

async function untilStarted(): Promise<Started> {
  const read = async () => JSON.parse(await readFile(inject('stack').started, 'utf8')) as Started
  const stack = await vi.waitFor(read, { timeout: 300_000, interval: 50 })
  if (stack.problem) throw new Error(stack.problem)
  return stack
}

/**
 * Starts a separate stack. It gets a copy of the fresh database, because wrangler would need three seconds of CPU time to create one. With `isEmpty`,
 * it has no organization. `settings` are environment variables.
 */
export async function startOther({
  isEmpty = false,
  settings = {},
}: { isEmpty?: boolean; settings?: Record<string, string> } = {}): Promise<Stack> {
  const shared = await untilStarted()
  const state_dir = await mkdtemp(join(tmpdir(), 'tonearm-stack-'))
  const file = join(state_dir, relative(shared.state_dir, databaseFile(shared.state_dir)!))
  await mkdir(dirname(file), { recursive: true })
  await copyFile(`${inject('stack').started}.sqlite`, file)
  if (isEmpty) {
    using database = new DatabaseSync(file)
    for (const table of ['organizations', 'api_keys', 'events', 'idempotency_keys'])
      database.exec(`delete from ${table}`)
  }
  return startStack({ state_dir, isEmpty, settings })
}

/** Joins the shared stack with a new organization. */
export async function joinStack(): Promise<Shared> {
  showLog('the stack that all share', () => readFileSync(inject('stack').log, 'utf8'))
  const stack = await untilStarted()
  return { ...stack, ...(await anOrganization(stack)), dispose: async () => undefined }
}

/** Creates an organization. Resolves to its id and its server key. */
export async function anOrganization({ base_url, root_key }: Pick<Stack, 'base_url' | 'root_key'>) {
  const response = await fetch(`${base_url}/v1/organization`, {
    method: 'POST',
    headers: { authorization: `Bearer ${root_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A test' }),
  })
  const { organization_id, secret } = (await response.json()) as { organization_id: string; secret: string }
  if (!secret) throw new Error(`no organization: ${response.status}`)
  return { organization_id, api_key: secret }
}
