import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

import { LATEST_MIGRATION } from '../src/adapters/db/latest_migration.ts'
import { migrationFaults, readMigrations } from './shared/migrations.ts'

/**
 * `npm run check`: every check that needs no running service. Runs as many steps at once as there are cores, prints the output of each when it
 * ends, and fails if a step failed. `npm run check -- NAME …` runs only the steps whose names contain one of the words.
 */

const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', TONEARM_BUILT: '1' }

type Result = { ok: boolean; output: string }

function run(command: string, ...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (output += part))
    child.once('error', (error) => resolve({ ok: false, output: `${error.message}\n` }))
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })
}

const faultless = (faults: string[]): Result => ({
  ok: faults.length === 0,
  output: faults.map((fault) => `${fault}\n`).join(''),
})

/**
 * Finds migrations that drop a table. drizzle-kit rebuilds a table by dropping it, but D1 ignores the pragma that makes this safe
 * (docs/architecture.md#d1). Such a migration must be written by hand.
 */
function unsafeMigrations(): string[] {
  const unsafe = readdirSync('drizzle')
    .filter((file) => file.endsWith('.sql'))
    .filter((file) => /`__new_|drop table/i.test(readFileSync(`drizzle/${file}`, 'utf8')))
  return unsafe.map((file) => `drizzle/${file} rebuilds or drops a table: see CONTRIBUTING.md#migrations`)
}

/** Finds migrations that D1 would not accept, and a last migration that the Worker does not know: it looks for that one in the database. */
function migrationsFaults(): string[] {
  const migrations = readMigrations('drizzle')
  const latest = migrations.at(-1)?.name
  const isKnown = latest === LATEST_MIGRATION
  const unknown = isKnown ? [] : [`src/adapters/db/latest_migration.ts must name ${latest}`]
  return [...unsafeMigrations(), ...migrations.flatMap(migrationFaults), ...unknown]
}

/** Compares a database that the migrations create with the source: the tables in the code, and the triggers (scripts/shared/schema.ts). */
async function schemaFaults(): Promise<Result> {
  const { sourceFaults } = await import('./shared/schema.ts')
  const faults = await sourceFaults(readMigrations('drizzle'))
  return faultless(faults.length > 0 ? [...faults, 'Run npm run migration, and commit what it writes'] : [])
}

/** Forbidden SQL calls, each with its alternative. The linter has no rule for calls. */
const BANNED_SQL = [
  { pattern: /\.insert\([^()]*\)\s*\.select\(/, instead: 'insertFrom, which names the columns' },
  { pattern: /constraint failed/i, instead: 'a guard in the statement: the messages of SQLite are not an API' },
]
/** The only file in which these calls are allowed, because it defines `insertFrom`. */
const INSERT_FROM = 'adapters/db/database.ts'

function bannedSql(): string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  return files.flatMap((file) => {
    const text = readFileSync(`src/${file}`, 'utf8')
    return BANNED_SQL.flatMap(({ pattern, instead }) => {
      const at = file === INSERT_FROM ? -1 : text.search(pattern)
      return at < 0 ? [] : [`src/${file}:${text.slice(0, at).split('\n').length} needs ${instead}`]
    })
  })
}

const projects = [
  'test/worker',
  'test/e2e',
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
  'test/container',
]
/** `after`: the step that must have passed before. `advice` is printed if the step fails. */
type Step = { name: string; check: () => Result | Promise<Result>; after?: string; advice?: string }

const step = (name: string, ...command: [string, ...string[]]): Step => ({ name, check: () => run(...command) })
// The longest steps start first.
const steps: Step[] = [
  step('build', 'node', 'scripts/build.ts'),
  ...projects.map((project) => step(`types of ${project}`, 'tsc', '--singleThreaded', '-p', project)),
  step('lint', 'oxlint', '--type-aware', '--deny-warnings'),
  {
    ...step('spelling', 'cspell', 'lint', '--no-progress', '--no-summary'),
    advice: 'Add a real term to `words` in cspell.json (docs/development/language.md)',
  },
  {
    ...step(
      'deploy dry run',
      'wrangler',
      'deploy',
      '--dry-run',
      '--containers-rollout=none',
      '--outdir',
      'dist/worker',
    ),
    after: 'build',
  },
  { ...step('sizes', 'node', 'scripts/check/size.ts'), after: 'deploy dry run' },
  { ...step('links of the pages', 'node', 'scripts/check/links.ts'), after: 'build' },
  step('format', 'oxfmt', '--check'),
  step('prose', 'node', 'scripts/check/prose.ts'),
  step('citations', 'node', 'scripts/check/citations.ts'),
  step('OpenAPI document', 'node', 'scripts/check/openapi.ts'),
  step('structure', 'node', 'scripts/check/structure.ts'),
  step('generated docs', 'node', 'scripts/docs.ts', '--check'),
  step('binding types', 'wrangler', 'types', '--check', '--include-runtime=false', '--strict-vars=false'),
  { name: 'migrations', check: () => faultless(migrationsFaults()) },
  { name: 'schema', check: schemaFaults },
  { name: 'SQL in the code', check: () => faultless(bannedSql()) },
]

const wanted = process.argv.slice(2)
const waiting = steps.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
if (waiting.length === 0) {
  console.error(`No step is called ${wanted.join(' or ')}. The steps: ${steps.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const unfinished = new Set(waiting.map(({ name }) => name))
const failed: string[] = []
let wake = Promise.withResolvers<void>()

/** Runs waiting steps one after the other, until none is left. A step that comes after one that failed is not run. */
async function work(): Promise<void> {
  for (;;) {
    const index = waiting.findIndex(({ after }) => !after || !unfinished.has(after))
    if (index >= 0) await perform(waiting.splice(index, 1)[0]!)
    else if (waiting.length > 0) await wake.promise
    else return
  }
}

async function perform({ name, check, after = '', advice = '' }: Step): Promise<void> {
  const started = Date.now()
  const { ok, output } = await Promise.resolve()
    .then(() => (failed.includes(after) ? { ok: false, output: `${after} failed\n` } : check()))
    .catch((error: Error) => ({ ok: false, output: `${error.stack}\n` }))
  console.log(
    `${output}${ok ? 'ok    ' : `${advice && `${advice}\n`}FAILED`} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`,
  )
  if (!ok) failed.push(name)
  unfinished.delete(name)
  wake.resolve()
  wake = Promise.withResolvers()
}

const started = Date.now()
await Promise.all(Array.from({ length: availableParallelism() }, work))
const seconds = ((Date.now() - started) / 1000).toFixed(0)
console.log(
  failed.length === 0 ? `check: all good (${seconds} s)` : `check: ${failed.join(', ')} failed (${seconds} s)`,
)
process.exitCode = failed.length === 0 ? 0 : 1
