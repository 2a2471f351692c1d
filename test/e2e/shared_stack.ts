import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { inject, vi } from 'vitest'
import type { TestProject } from 'vitest/node'

import { databaseFile } from '../../scripts/service.ts'
import { showLog } from '../support/logs.ts'
import { type Stack, startStack } from '../support/stack.ts'

/** A stack for all files that only use it; those that stop it, or keep its transcoder busy, start one of their own. */
export interface Shared {
  base_url: string
  /** The server key of an organization that nobody else uses. */
  api_key: string
  organization_id: string
  root_key: string
  dispose: () => Promise<void>
}

type Started = Pick<Stack, 'base_url' | 'root_key' | 'state_dir'> & { problem?: string }

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the stack that all share: what it printed (`log`), and where it is, once it is ready (`started`). */
    stack: { log: string; started: string }
  }
}

/** Vitest's global set-up of the project `e2e`. Files that need no stack, or one of their own, begin while it starts. */
export default async function startForAll(project: TestProject) {
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

/** Writes what came of it into a file, and beside that a copy of its database, which is new; answers what ends it. */
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

/** Another stack. It begins with a copy of the database: to make one, wrangler takes a core for three seconds. */
export async function startOther(): Promise<Stack> {
  const shared = await untilStarted()
  const state_dir = await mkdtemp(join(tmpdir(), 'tonearm-stack-'))
  const file = join(state_dir, relative(shared.state_dir, databaseFile(shared.state_dir)!))
  await mkdir(dirname(file), { recursive: true })
  await copyFile(`${inject('stack').started}.sqlite`, file)
  return startStack({ state_dir })
}

/** The stack that all share, with a new organization. */
export async function joinStack(): Promise<Shared> {
  showLog('the stack that all share', () => readFileSync(inject('stack').log, 'utf8'))
  const stack = await untilStarted()
  const response = await fetch(`${stack.base_url}/v1/organization`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.root_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A test' }),
  })
  const { organization_id, secret } = (await response.json()) as { organization_id: string; secret: string }
  if (!secret) throw new Error(`no organization: ${response.status}`)
  return { ...stack, organization_id, api_key: secret, dispose: async () => undefined }
}
