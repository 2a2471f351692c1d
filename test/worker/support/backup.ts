import { env } from 'cloudflare:workers'
import { expect } from 'vitest'

import type { BackupAnswers, BackupRequest, Row } from '../../../src/contract/backup.ts'
import { call } from './api.ts'

/** The requests of the commands that back up, restore, export and import. */

export type Action = BackupRequest['action']
type Input<A extends Action> = Omit<Extract<BackupRequest, { action: A }>, 'action'>
/** The rows by table. */
export type Tables = Map<string, Row[]>

export const backup_id = '000b2c5e-0000-4000-8000-000000000001'
export const post = (body: unknown, key: string | undefined = env.ROOT_KEY) =>
  call('POST', '/v1/system/backup', { key, body })

/** Returns the response of an action that must succeed. */
export async function act<A extends Action>(action: A, input: Input<A>): Promise<BackupAnswers[A]> {
  const { status, body } = await post({ action, ...input })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as unknown as BackupAnswers[A]
}

/** Reads the tables of the service, or of an organization, in the order of a backup. */
export async function readAll(organization_id?: string): Promise<Tables> {
  const { tables: names, walks } = await act('describe', { organization_id })
  const tables: Tables = new Map(names.map((name) => [name, []]))
  for (const walk of walks)
    for (let after: (string | number)[] | null = null; ;) {
      const page: BackupAnswers['rows'] = await act('rows', { organization_id, walk, after })
      for (const [name, rows] of Object.entries(page.rows)) tables.get(name)!.push(...rows)
      after = page.after
      if (!after) break
    }
  return tables
}
