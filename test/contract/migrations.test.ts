import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, it, onTestFinished } from 'vitest'

import {
  migrationFaults,
  type Migration,
  MIGRATIONS_TABLE,
  readMigrations,
  replacedMigrations,
  triggersOf,
} from '../../scripts/shared/migrations.ts'
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
    const schema = schemaAfter(migrations.filter(({ name }) => name < '0004'))
    const text = Object.keys(schema)
      .toSorted()
      .map((name) => `${name} ${schema[name]}\n`)
    expect(createHash('sha256').update(text.join('')).digest('hex')).toBe(
      'ba39a3f84bd34fb8ffb5342ee84837fb8aa858efcb8af04e5d18bfa5a3bc6411',
    )
  })

  it('create exactly those triggers that `triggersOf` returns', () => {
    const schema = schemaAfter(migrations)
    const triggers = Object.keys(schema).filter((name) => schema[name]?.startsWith('CREATE TRIGGER'))
    expect(triggersOf(migrations)).toEqual(triggers.toSorted())
    expect(triggers.length).toBeGreaterThan(10)
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
    expect(triggersOf(again)).toEqual(['u'])
  })
})
