import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

import { LATEST_MIGRATION } from '../src/adapters/db/latest_migration.ts'
import { migrationFaults, readMigrations } from './shared/migrations.ts'

/** `npm run check`: every check that needs no running service. Runs all steps, and fails at the end if a step failed. */

const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', TONEARM_BUILT: '1' }
const run =
  (command: string, ...args: string[]) =>
  () =>
    spawnSync(command, args, { stdio: 'inherit', env }).status === 0

/**
 * Whether no migration drops a table. drizzle-kit rebuilds a table by dropping it, but D1 ignores the pragma that makes this safe
 * (docs/architecture.md#d1). Such a migration must be written by hand.
 */
function migrationsAreSafe(): boolean {
  const unsafe = readdirSync('drizzle')
    .filter((file) => file.endsWith('.sql'))
    .filter((file) => /`__new_|drop table/i.test(readFileSync(`drizzle/${file}`, 'utf8')))
  for (const file of unsafe) console.error(`drizzle/${file} rebuilds or drops a table: see CONTRIBUTING.md#migrations`)
  return unsafe.length === 0
}

/** Whether D1 would accept the syntax of all migrations. */
function migrationsAreAccepted(): boolean {
  const faults = readMigrations('drizzle').flatMap(migrationFaults)
  for (const fault of faults) console.error(fault)
  return faults.length === 0
}

/** Whether the migrations match the schema, in which case drizzle-kit generates no new migration. */
function schemaIsMigrated(): boolean {
  const before = readdirSync('drizzle').length
  const { status, stdout } = spawnSync('drizzle-kit', ['generate'], { encoding: 'utf8', env })
  const isCurrent = status === 0 && stdout.includes('No schema changes') && readdirSync('drizzle').length === before
  if (!isCurrent) console.error(`${stdout}\nThe schema changed: run npm run migration and commit the result`)
  return isCurrent
}

/** Forbidden SQL calls, each with its alternative. The linter has no rule for calls. */
const BANNED_SQL = [
  { pattern: /\.insert\([^()]*\)\s*\.select\(/, instead: 'insertFrom, which names the columns' },
  { pattern: /constraint failed/i, instead: 'a guard in the statement: the messages of SQLite are not an API' },
]

function sqlIsSafe(): boolean {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const faults = files.flatMap((file) => {
    const text = readFileSync(`src/${file}`, 'utf8')
    return BANNED_SQL.flatMap(({ pattern, instead }) => {
      const at = file === INSERT_FROM ? -1 : text.search(pattern)
      return at < 0 ? [] : [`src/${file}:${text.slice(0, at).split('\n').length} needs ${instead}`]
    })
  })
  for (const fault of faults) console.error(fault)
  return faults.length === 0
}
/** The only file in which these calls are allowed, because it defines `insertFrom`. */
const INSERT_FROM = 'adapters/db/database.ts'

/** Whether the Worker knows the last migration, which it looks for in the database. */
function latestIsKnown(): boolean {
  const latest = readMigrations('drizzle').at(-1)?.name
  if (latest !== LATEST_MIGRATION) console.error(`src/adapters/db/latest_migration.ts must name ${latest}`)
  return latest === LATEST_MIGRATION
}

const projects = [
  'src',
  'src/client',
  'src/studio',
  'src/elements',
  'packages',
  'container',
  'scripts',
  'bench',
  'src/reference',
  'test/browser',
  'test/contract',
  'test/worker',
  'test/container',
  'test/e2e',
]
const steps: Record<string, () => boolean> = {
  format: run('oxfmt', '--check'),
  lint: run('oxlint', '--type-aware', '--deny-warnings'),
  'SQL in the code': sqlIsSafe,
  citations: run('node', 'scripts/check/citations.ts'),
  spelling: run('cspell', 'lint', '--no-progress', '--no-summary'),
  prose: run('node', 'scripts/check/prose.ts'),
  names: run('node', 'scripts/check/names.ts'),
  structure: run('node', 'scripts/check/structure.ts'),
  ...Object.fromEntries(projects.map((project) => [`types of ${project}`, run('tsc', '-p', project)])),
  'generated docs': run('node', 'scripts/docs.ts', '--check'),
  'binding types': run('wrangler', 'types', '--check', '--include-runtime=false', '--strict-vars=false'),
  migrations: () => migrationsAreSafe() && migrationsAreAccepted() && schemaIsMigrated() && latestIsKnown(),
  build: run('node', 'scripts/build.ts'),
  'deploy dry run': run('wrangler', 'deploy', '--dry-run', '--containers-rollout=none', '--outdir', 'dist/worker'),
  sizes: run('node', 'scripts/check/size.ts'),
}

const failed: string[] = []
for (const [name, step] of Object.entries(steps)) {
  const started = Date.now()
  const ok = step()
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (!ok) failed.push(name)
}
console.log(failed.length === 0 ? 'check: all good' : `check: ${failed.join(', ')} failed`)
process.exitCode = failed.length === 0 ? 0 : 1
