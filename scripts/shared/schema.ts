import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { type DrizzleSQLiteSnapshotJSON, generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api'

import { WITHOUT_ROWID } from '../../src/adapters/db/schema/without_rowid.ts'
import { SEARCH_TABLE } from '../../src/adapters/db/search.ts'
import { TITLES_TABLE } from '../../src/adapters/db/search_titles.ts'
import { COUNT_TRIGGERS } from '../../src/adapters/db/triggers/counts.ts'
import { EVENT_TRIGGERS } from '../../src/adapters/db/triggers/events.ts'
import { USAGE_TRIGGERS } from '../../src/adapters/db/triggers/usage.ts'
import type { Migration } from './migrations.ts'

/**
 * The source of the database: the tables in src/adapters/db/schema, and the parts that drizzle-kit cannot generate, namely triggers
 * (src/adapters/db/triggers), indexes by expression and full-text tables. `npm run migration` and `npm run check` compare it with a database that the
 * migrations create.
 */

const ROOT = join(import.meta.dirname, '../..')
const DB = join(ROOT, 'src/adapters/db')
/** The last snapshot of drizzle-kit, from which it generates the next migration. */
const SNAPSHOTS = join(ROOT, 'drizzle/meta')
export const BEFORE_EXPORT = join(ROOT, 'scripts/deploy/before_export.sql')
const filesIn = (folder: string, extension: string) =>
  readdirSync(join(DB, folder))
    .filter((name) => name.endsWith(extension))
    .map((name) => join(DB, folder, name))

/** Imports the tables of all files in src/adapters/db/schema. */
export async function importTables(): Promise<Record<string, unknown>> {
  const modules = await Promise.all(filesIn('schema', '.ts').map((file) => import(file)))
  return Object.assign({}, ...modules) as Record<string, unknown>
}

/** Applies a change to SQL, but not to its string literals. */
const outsideStrings = (sql: string, change: (part: string) => string) =>
  sql
    .split(/('[^']*')/)
    .map((part, at) => (at % 2 ? part : change(part)))
    .join('')

/** Returns a statement without comments, on one line. D1 accepts triggers only in this form (docs/architecture.md#d1). */
export const onOneLine = (sql: string) =>
  outsideStrings(sql.replace(/^\s*--.*$/gm, ''), (part) =>
    part.replace(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')'),
  ).trim()

/** Returns the statements of a file, each of which starts on a new line with CREATE. A comment is a whole line. */
const statementsOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split(/^(?=CREATE )/m)
    .filter((text) => text.startsWith('CREATE '))

/** The statements that create what drizzle-kit cannot generate. */
export const handwritten = (): string[] =>
  [
    ...filesIn('schema', '.sql').flatMap(statementsOf),
    ...SEARCH_TABLE,
    ...TITLES_TABLE,
    ...COUNT_TRIGGERS,
    ...EVENT_TRIGGERS,
    ...USAGE_TRIGGERS,
    ...filesIn('triggers', '.sql').flatMap(statementsOf),
  ].map(onOneLine)

/** Adds WITHOUT ROWID to the SQL that drizzle-kit writes. */
export const withoutRowid = (sql: string) =>
  sql.replace(/(CREATE TABLE `(\w+)` \([^]*?\n\));/g, (statement, text: string, name: string) =>
    WITHOUT_ROWID.includes(name) ? `${text} WITHOUT ROWID;` : statement,
  )

/** Creates an empty database from the source. */
export async function databaseOfSource(
  tables: Record<string, unknown>,
  others: readonly string[] = handwritten(),
): Promise<DatabaseSync> {
  const nothing = await generateSQLiteDrizzleJson({})
  const created = await generateSQLiteMigration(nothing, await generateSQLiteDrizzleJson(tables))
  return databaseFrom([...created.map(withoutRowid), ...others])
}

/** Creates an empty database with statements or whole migrations. */
export function databaseFrom(sql: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  for (const text of sql) database.exec(text)
  return database
}

/** The definition of each part of a schema in a comparable form, by kind and name, for example `trigger tracks_events` or `column tracks.title`. */
export type Schema = Map<string, string>

/** Returns SQL in a form that does not depend on white space, case and quotation marks around names. */
const comparable = (sql: string) =>
  outsideStrings(sql, (part) =>
    part
      .toLowerCase()
      .replace(/["`]/g, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),]) ?/g, '$1'),
  )

export function schemaOf(database: DatabaseSync): Schema {
  const schema: Schema = new Map()
  const tables = database.prepare("select name, type, wr from pragma_table_list where schema = 'main'").all()
  for (const { name, type, wr } of tables) {
    if (type !== 'table' || String(name).startsWith('sqlite_')) continue
    schema.set(`table ${String(name)}`, wr ? 'without rowid' : 'with rowid')
    for (const column of database.prepare('select * from pragma_table_xinfo(?)').all(name!))
      schema.set(
        `column ${String(name)}.${String(column.name)}`,
        [
          String(column.type).toLowerCase().replace(' generated always', ''),
          column.notnull ? 'not null' : '',
          column.dflt_value === null ? '' : `default ${comparable(String(column.dflt_value))}`,
          column.pk ? `primary key ${String(column.pk)}` : '',
          ['', '', 'virtual', 'stored'][Number(column.hidden)],
        ]
          .filter(Boolean)
          .join(' '),
      )
  }
  const others = database
    .prepare(
      "select type, name, sql from sqlite_master where sql is not null and (type <> 'table' or sql like 'create virtual%')",
    )
    .all()
  for (const { type, name, sql } of others) schema.set(`${String(type)} ${String(name)}`, comparable(String(sql)))
  return schema
}

/** Returns a sentence for each part that differs between the migrations and the source. */
export function differences(migrated: Schema, source: Schema): string[] {
  return [...new Set([...source.keys(), ...migrated.keys()])].flatMap((part) => {
    const [before, after] = [migrated.get(part), source.get(part)]
    if (before === after) return []
    if (before === undefined) return [`${part} is in the source, but no migration creates it`]
    if (after === undefined) return [`${part} is created by the migrations, but is not in the source`]
    let at = 0
    while (at < after.length && after[at] === before[at]) at++
    const from = Math.max(0, at - 30)
    const excerpt = (text: string) => `${from > 0 ? '…' : ''}${text.slice(from, from + 80)}`
    return [`${part} differs: "${excerpt(after)}" in the source, "${excerpt(before)}" in the migrations`]
  })
}

/**
 * Returns the statements that make the triggers, indexes and full-text tables of a migrated database like those of the source.
 * D1 runs a migration as one transaction, so no change is missed between DROP and CREATE.
 */
export function changesOf(migrated: DatabaseSync, source: DatabaseSync): string[] {
  const read = (database: DatabaseSync) =>
    new Map(
      database
        .prepare(
          `select name, type, sql from sqlite_master
            where sql is not null and (type in ('trigger', 'index') or sql like 'create virtual%')
            order by type = 'trigger', rowid`,
        )
        .all()
        .map(({ name, type, sql }) => [String(name), { type: String(type), sql: String(sql) }]),
    )
  const [before, after] = [read(migrated), read(source)]
  const isChanged = (name: string) => comparable(before.get(name)?.sql ?? '') !== comparable(after.get(name)?.sql ?? '')
  return [...new Set([...before.keys(), ...after.keys()])].filter(isChanged).flatMap((name) => {
    const [old, current] = [before.get(name), after.get(name)]
    return [
      ...(old ? [`DROP ${old.type.toUpperCase()} IF EXISTS ${name};`] : []),
      ...(current
        ? [`${current.sql.replace(/^CREATE (VIRTUAL TABLE|UNIQUE INDEX|INDEX|TRIGGER) /, '$&IF NOT EXISTS ')};`]
        : []),
    ]
  })
}

/** Returns the SQL that drops the full-text tables and their triggers (docs/operate.md#backup). */
export function beforeExport(): string {
  const drop = (statement: string) => {
    const [, kind, name] = /^CREATE (?:VIRTUAL )?(TABLE|TRIGGER) IF NOT EXISTS (\w+)/.exec(statement)!
    return `DROP ${kind} IF EXISTS ${name};`
  }
  // The triggers of a table are dropped before the table, so each state can be written to.
  const dropped = [SEARCH_TABLE, TITLES_TABLE].flatMap((statements) => statements.map(drop).toReversed())
  return `${[
    '-- Deletes the search index, because D1 exports no database that has one. The sweep rebuilds it ten minutes later (docs/operate.md#backup).',
    '-- Written by npm run migration.',
    `INSERT OR REPLACE INTO search_fills (kind, cursor) VALUES ('table', (unixepoch() + 600) * 1000);`,
    ...dropped,
  ].join('\n')}\n`
}

/** Returns everything in which the migrations, drizzle-kit's snapshot or before_export.sql differ from the source. */
export async function sourceFaults(
  migrations: Migration[],
  tables?: Record<string, unknown>,
  others = handwritten(),
): Promise<string[]> {
  const all = tables ?? (await importTables())
  const migrated = schemaOf(databaseFrom(migrations.map(({ sql }) => sql)))
  const faults = differences(migrated, schemaOf(await databaseOfSource(all, others)))
  const last = readdirSync(SNAPSHOTS)
    .filter((name) => name.endsWith('_snapshot.json'))
    .toSorted()
    .at(-1)!
  const snapshot = JSON.parse(readFileSync(join(SNAPSHOTS, last), 'utf8')) as DrizzleSQLiteSnapshotJSON
  const unknown = await generateSQLiteMigration(snapshot, await generateSQLiteDrizzleJson(all))
  return [
    ...faults,
    ...unknown.map((statement) => `drizzle/meta/${last} lacks: ${statement}`),
    ...(readFileSync(BEFORE_EXPORT, 'utf8') === beforeExport()
      ? []
      : ['scripts/deploy/before_export.sql is out of date']),
  ]
}
