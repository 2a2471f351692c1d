import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it, onTestFinished } from 'vitest'

import {
  migrationFaults,
  type Migration,
  MIGRATIONS_TABLE,
  readMigrations,
  replacedMigrations,
  triggersAgain,
  triggersOf,
} from '../../scripts/shared/migrations.ts'
import {
  changesOf,
  databaseFrom,
  databaseOfSource,
  differences,
  handwritten,
  importTables,
  schemaOf,
  sourceFaults,
} from '../../scripts/shared/schema.ts'
import type { Settings } from '../../scripts/shared/settings.ts'
import { startMigration } from '../../scripts/start/service.ts'

const migrations = readMigrations(join(import.meta.dirname, '../../drizzle'))

/** The schema, without line breaks, of a database to which these migrations were applied. */
function schemaAfter(files: Migration[]): Record<string, string> {
  const database = new DatabaseSync(':memory:')
  for (const { sql } of files) database.exec(sql)
  const rows = database.prepare('select name, sql from sqlite_master where sql is not null').all()
  database.close()
  return Object.fromEntries(rows.map(({ name, sql }) => [name, String(sql).replaceAll(/\s+/g, ' ')]))
}

describe('the migrations', () => {
  it('have the form that D1 accepts', () => {
    expect(migrations.flatMap(migrationFaults)).toEqual([])
  })

  // D1 identifies a migration by its name, so the schema of a database that applied these files in an earlier version must match today's schema.
  it('produce the same schema as when they were first applied', () => {
    const schema = schemaAfter(migrations.filter(({ name }) => name < '0006'))
    const lines = Object.keys(schema)
      .toSorted()
      .map((name) => `${name} ${schema[name]}\n`)
    expect(createHash('sha256').update(lines.join('')).digest('hex')).toBe(
      'd5db77c8e95013bd2851b0f2c3b9bff10a2aea50f3193b1c0d3b83d7292734d9',
    )
  })

  it('create exactly those triggers that `triggersOf` returns', () => {
    const schema = schemaAfter(migrations)
    const triggers = Object.keys(schema).filter((name) => schema[name]?.startsWith('CREATE TRIGGER'))
    expect([...triggersOf(migrations).keys()].toSorted()).toEqual(triggers.toSorted())
    expect(triggers.length).toBeGreaterThan(10)
  })
})

describe('the source of the database', async () => {
  const tables = await importTables()
  const statements = handwritten()

  it('is what the migrations create', async () => {
    expect(await sourceFaults(migrations)).toEqual([])
  })

  it('differs if a trigger was changed without a migration, and the next migration replaces only this trigger', async () => {
    const changed = statements.map((text) => text.replace(`'ready' AND old.status`, `'ready' AND old.progress`))
    expect(await sourceFaults(migrations, tables, changed)).toEqual([
      expect.stringMatching(/^trigger tracks_events differs: ".*old.progress.*" in the source, ".*old.status/),
    ])
    const source = await databaseOfSource(tables, changed)
    const sql = changesOf(databaseFrom(migrations.map((file) => file.sql)), source)
    expect(sql).toEqual([
      'DROP TRIGGER IF EXISTS tracks_events;',
      expect.stringContaining('CREATE TRIGGER IF NOT EXISTS'),
    ])
    const next = { name: '9999_triggers.sql', sql: sql.join('\n--> statement-breakpoint\n') }
    expect(migrationFaults(next)).toEqual([])
    const migrated = schemaOf(databaseFrom([...migrations, next].map((file) => file.sql)))
    expect(differences(migrated, schemaOf(source))).toEqual([])
  })

  it('is written completely for a database that has only tables', async () => {
    const source = await databaseOfSource(tables, statements)
    const database = await databaseOfSource(tables, [])
    database.exec(changesOf(database, source).join('\n'))
    expect(differences(schemaOf(database), schemaOf(source))).toEqual([])
  })

  it('differs if a trigger or an index was added or removed without a migration', async () => {
    const others = statements.filter((text) => !text.startsWith('CREATE TRIGGER shares_slug_update'))
    const added = 'CREATE INDEX tracks_size ON tracks (source_size + 1);'
    expect(await sourceFaults(migrations, tables, [...others, added])).toEqual([
      'index tracks_size is in the source, but no migration creates it',
      'trigger shares_slug_update is created by the migrations, but is not in the source',
    ])
  })

  it('differs if a column of a table without rowid has no migration', async () => {
    const heartbeats = sqliteTable('heartbeats', {
      name: text().primaryKey(),
      at: integer().notNull(),
      report: text(),
      host: text(),
    })
    expect(await sourceFaults(migrations, { ...tables, heartbeats })).toEqual([
      'column heartbeats.host is in the source, but no migration creates it',
      expect.stringContaining('lacks: ALTER TABLE `heartbeats` ADD `host` text'),
    ])
  })

  it('differs if a table is created with a rowid', async () => {
    const files = migrations.map((file) => ({ ...file, sql: file.sql.replaceAll(') WITHOUT ROWID;', ');') }))
    expect(await sourceFaults(files)).toContain(
      'table events differs: "without rowid" in the source, "with rowid" in the migrations',
    )
  })
})

describe('a database with an earlier migration history', () => {
  const applied = ['0000_init.sql', '0001_list_counts.sql', '0021_folded_search.sql']

  it('is recognized, while a database of a newer version is not mistaken for one', () => {
    expect(replacedMigrations(applied, migrations)).toEqual(['0001_list_counts.sql'])
    expect(replacedMigrations([...migrations.map(({ name }) => name), '9999_newer.sql'], migrations)).toEqual([])
    expect(replacedMigrations([], migrations)).toEqual([])
  })

  it('is not migrated by npm start', () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'tonearm-history-'))
    onTestFinished(() => rmSync(stateDir, { recursive: true }))
    const directory = join(stateDir, 'v3/d1/miniflare-D1DatabaseObject')
    mkdirSync(directory, { recursive: true })
    const database = new DatabaseSync(join(directory, `${'0'.repeat(64)}.sqlite`))
    database.exec(MIGRATIONS_TABLE)
    for (const name of applied) database.prepare('insert into d1_migrations (name) values (?)').run(name)
    database.close()
    expect(() => startMigration({ stateDir, secrets: {} } as unknown as Settings)).toThrow(/other migrations[^]*: mv /)
  })
})

describe('the check of migrations for D1', () => {
  const good = 'CREATE TRIGGER IF NOT EXISTS t AFTER DELETE ON a BEGIN DELETE FROM b; END;'
  const cases: [string, string, RegExp | null][] = [
    ['the right form', `-- Why.\n${good}\nINSERT INTO a VALUES (1);`, null],
    ['several lines', good.replace('BEGIN ', 'BEGIN\n  '), /1: a trigger is one line/],
    ['a lower-case begin', good.replace('BEGIN', 'begin'), /one line/],
    ['no IF NOT EXISTS', good.replace('IF NOT EXISTS ', ''), /one line/],
    ['CASE', good.replace('b;', 'b WHERE CASE a WHEN 1 THEN 2 END;'), /no CASE/],
    ['a semicolon in a comment', `-- One; two.\n${good}`, /1: a comment/],
    ['CRLF', good.replace(';', ';\r\n'), /LF only/],
    ['a table that cannot be created twice', `CREATE TABLE c (a);\n${good}`, /1: .*run twice/],
    ['a column that cannot be added twice', `${good}\nALTER TABLE a ADD b;`, /2: .*run twice/],
    [
      'an index of a table that may have grown',
      'CREATE INDEX a_b ON `a` (`b`);--> statement-breakpoint',
      /1: .*in steps/,
    ],
    ['a unique partial index', 'CREATE UNIQUE INDEX a_b\nON a (b) WHERE b > 1;', /1: .*in steps/],
    ['an update of every row', 'ALTER TABLE a ADD b;\nUPDATE a SET b = 1;', /2: .*in steps/],
    ['a deletion', 'DELETE FROM a WHERE b = 1;', /1: .*in steps/],
    ['a copy of a table', 'CREATE TABLE c (a);\nINSERT INTO c\nSELECT b FROM a;', /2: .*in steps/],
    ['a column that is dropped', 'ALTER TABLE `a` DROP COLUMN `b`;', /1: .*in steps/],
    ['an index of a table that it creates', 'CREATE TABLE `c` (a);\nCREATE INDEX c_a ON `c` (a);', null],
    ['an index with the reason why it is fast', '-- Whole table: a has a few rows.\nCREATE INDEX a_b ON a (b);', null],
    ['one row that depends on a table', 'INSERT INTO c (a) VALUES ((SELECT max(rowid) FROM a));', null],
    ['a table that can be created twice', `CREATE TABLE IF NOT EXISTS c (a);\n${good}`, null],
  ]
  it.each(cases)('accepts or rejects a migration with %s', (_, sql, fault) => {
    const faults = migrationFaults({ name: '0009_new.sql', sql }).join('\n')
    if (fault) expect(faults).toMatch(fault)
    else expect(faults).toBe('')
  })

  it('ignores a trigger that is dropped by a later migration', () => {
    const again = [
      { name: '1', sql: `${good}\n${good.replace(' t ', ' "u" ')}` },
      { name: '2', sql: 'DROP TRIGGER IF EXISTS t;' },
    ]
    expect([...triggersOf(again).keys()]).toEqual(['u'])
    expect(triggersAgain(again, ['u'])).toBe(good.replace(' t ', ' "u" '))
  })
})
