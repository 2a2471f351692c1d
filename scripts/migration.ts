import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { readMigrations } from './shared/migrations.ts'
import {
  BEFORE_EXPORT,
  beforeExport,
  databaseFrom,
  databaseOfSource,
  changesOf,
  differences,
  importTables,
  schemaOf,
  withoutRowid,
} from './shared/schema.ts'

/**
 * `npm run migration [-- --name NAME]`: writes the migrations that make a database like the source (docs/development/migrations.md). drizzle-kit
 * writes the one for tables. The second one drops, changes and creates triggers, indexes by expression and full-text tables.
 */

const OUT = 'drizzle'
const LATEST = 'src/adapters/db/latest_migration.ts'

/** Runs drizzle-kit, which asks about renamed columns. Returns the SQL file that it wrote, if it wrote one. */
function generate(...args: string[]): string | undefined {
  const names = () => readdirSync(OUT).filter((name) => name.endsWith('.sql'))
  const before = names()
  const { status } = spawnSync('drizzle-kit', ['generate', ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  const [name] = names().filter((file) => !before.includes(file))
  return name && join(OUT, name)
}

const tables = generate(...process.argv.slice(2))
if (tables) writeFileSync(tables, withoutRowid(readFileSync(tables, 'utf8')))

const migrated = () => databaseFrom(readMigrations(OUT).map(({ sql }) => sql))
const source = await databaseOfSource(await importTables())
const changes = changesOf(migrated(), source)
if (changes.length > 0) {
  const file = generate('--custom', '--name', 'triggers')!
  const about = '-- Written by npm run migration from src/adapters/db (docs/development/migrations.md).\n'
  writeFileSync(file, about + changes.join('\n--> statement-breakpoint\n') + '\n')
}

const latest = readMigrations(OUT).at(-1)!.name
writeFileSync(
  LATEST,
  `/** The last migration in \`drizzle\`, which the Worker needs. Written by npm run migration. */\nexport const LATEST_MIGRATION = '${latest}'\n`,
)
writeFileSync(BEFORE_EXPORT, beforeExport())

const left = differences(schemaOf(migrated()), schemaOf(source))
if (left.length > 0) {
  const advice = 'Write the rest by hand: npx drizzle-kit generate --custom (docs/development/migrations.md)'
  console.error(`The migrations still differ from the source:\n  ${left.join('\n  ')}\n${advice}`)
  process.exitCode = 1
}
