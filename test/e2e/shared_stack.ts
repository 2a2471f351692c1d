import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { inject, vi } from 'vitest'
import type { TestProject } from 'vitest/node'

import { showLog } from '../support/logs.ts'
import { startStack } from '../support/stack.ts'

/** A stack for all files that only use it; those that stop it, or keep its transcoder busy, start one of their own. */
export interface Shared {
  base_url: string
  /** The server key of an organization that nobody else uses. */
  api_key: string
  organization_id: string
  root_key: string
  dispose: () => Promise<void>
}

type Started = Pick<Shared, 'base_url' | 'root_key'> & { problem?: string }

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

/** Writes what came of it into a file; answers what ends it. */
async function startShared(log: string, started: string): Promise<() => Promise<void>> {
  const nothing = async () => undefined
  const stack = await startStack({ log }).catch((error: Error) => ({ problem: error.message, dispose: nothing }))
  await writeFile(`${started}.new`, JSON.stringify(stack))
  await rename(`${started}.new`, started)
  return stack.dispose
}

/** The stack that all share, with a new organization. */
export async function joinStack(): Promise<Shared> {
  const { log, started } = inject('stack')
  showLog('the stack that all share', () => readFileSync(log, 'utf8'))
  const read = async () => JSON.parse(await readFile(started, 'utf8')) as Started
  const stack = await vi.waitFor(read, { timeout: 300_000, interval: 50 })
  if (stack.problem) throw new Error(stack.problem)
  const response = await fetch(`${stack.base_url}/v1/organization`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.root_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A test' }),
  })
  const { organization_id, secret } = (await response.json()) as { organization_id: string; secret: string }
  if (!secret) throw new Error(`no organization: ${response.status}`)
  return { ...stack, organization_id, api_key: secret, dispose: async () => undefined }
}
