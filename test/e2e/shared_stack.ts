import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

import { showLog } from '../support/logs.ts'
import { startStack } from '../support/stack.ts'

/** A stack for all files that only use it; those that stop it, or keep its transcoder busy, start one of their own. */
export interface Shared {
  base_url: string
  state_dir: string
  /** The server key of an organization that nobody else uses. */
  api_key: string
  organization_id: string
  root_key: string
  dispose: () => Promise<void>
}

declare module 'vitest' {
  export interface ProvidedContext {
    stack: { base_url: string; state_dir: string; root_key: string; log: string }
  }
}

/** Vitest's global set-up of the project `e2e`. */
export default async function startForAll(project: TestProject) {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-log-'))
  const log = join(directory, 'log')
  const { base_url, state_dir, root_key, dispose } = await startStack({ log })
  project.provide('stack', { base_url, state_dir, root_key, log })
  return async () => {
    await dispose()
    await rm(directory, { recursive: true })
  }
}

/** The stack that all share, with a new organization. */
export async function joinStack(): Promise<Shared> {
  const stack = inject('stack')
  showLog('the stack that all share', () => readFileSync(stack.log, 'utf8'))
  const response = await fetch(`${stack.base_url}/v1/organization`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.root_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A test' }),
  })
  const { organization_id, secret } = (await response.json()) as { organization_id: string; secret: string }
  if (!secret) throw new Error(`no organization: ${response.status}`)
  return { ...stack, organization_id, api_key: secret, dispose: async () => undefined }
}
