import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { readMigrations, triggersOf } from '../../scripts/shared/migrations.ts'
import type { Cloudflare } from '../support/cloudflare/server.ts'
import { deploy, IMAGE, playAccount, root, wrangler } from './deploy_setup.ts'
import { joinStack } from './shared_stack.ts'

const BEFORE_EXPORT = 'npx wrangler d1 execute DB --remote --file scripts/deploy/before_export.sql'
const EXPORT = 'npx wrangler d1 export DB --remote --output tonearm.sql'
/** The steps of docs/operate.md#restore between the export and `npm run deploy`. */
const RESTORE = [
  'npx wrangler d1 delete tonearm',
  'npx wrangler d1 create tonearm',
  'npx wrangler d1 execute DB --remote --file tonearm.sql',
]

const COLLECTION =
  "insert into collections (id, organization_id, title, metadata, theme, cover_colors, seq, created_at) values ('c1', 'o1', 'It''s; \n kept', '{}', 'auto', '[]', 1, 1)"

let cloudflare: Cloudflare
const folder = mkdtempSync(join(tmpdir(), 'tonearm-restore-'))
beforeAll(async () => {
  cloudflare = await playAccount(await joinStack())
})
afterAll(async () => {
  await cloudflare?.close()
  rmSync(folder, { recursive: true })
})

const database = () => cloudflare.account.databases.get('tonearm')!
const names = (type: string) =>
  database()
    .sql.prepare('select name from sqlite_master where type = ? order by name')
    .all(type)
    .map(({ name }) => name)

async function follow(command: string) {
  expect(readFileSync(join(root, 'docs/operate.md'), 'utf8')).toContain(command)
  const words = command.replace('tonearm.sql', join(folder, 'tonearm.sql')).split(' ')
  return wrangler(cloudflare, words.slice(2))
}

test('a database that is restored from an export has its rows, triggers and search again, and serves the Worker', async () => {
  expect((await deploy(cloudflare, IMAGE)).code).toBe(0)
  const { uuid, sql } = database()
  sql.exec(COLLECTION)
  expect((await follow(EXPORT)).output).toContain('cannot export databases with Virtual Tables')
  for (const command of [BEFORE_EXPORT, EXPORT, ...RESTORE]) expect(await follow(command)).toMatchObject({ code: 0 })
  expect(database().uuid).not.toBe(uuid)

  const { code, output } = await deploy(cloudflare, IMAGE)
  expect(output).toContain('database tonearm: exists, and replaces the one that the deployed Worker is bound to')
  expect(output).not.toContain('FAILED')
  expect(code).toBe(0)
  expect(cloudflare.account.workers.get('tonearm')?.bindings).toContainEqual({
    type: 'd1',
    name: 'DB',
    id: database().uuid,
  })
  expect(database().sql.prepare('select id, title from collections').all()).toEqual([
    { id: 'c1', title: "It's; \n kept" },
  ])
  expect(names('trigger')).toEqual([...triggersOf(readMigrations(join(root, 'drizzle'))).keys()].toSorted())
  expect(names('table')).toContain('search')
})
