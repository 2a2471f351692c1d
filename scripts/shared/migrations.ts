import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the migrations in `drizzle`, and checks that D1 will split them into statements correctly (docs/architecture.md#d1). */
export interface Migration {
  name: string
  sql: string
}

export const readMigrations = (directory: string): Migration[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(join(directory, name), 'utf8') }))

/** The table of applied migrations. It has the format that wrangler's `d1 migrations list` reads. */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`

/**
 * The applied migrations that sort before the last of these and are not among them. Such a database was created by other migrations, and later
 * ones do not make it usable.
 */
export function replacedMigrations(applied: readonly string[], migrations: readonly Migration[]): string[] {
  const names = migrations.map(({ name }) => name)
  return applied.filter((name) => name < (names.at(-1) ?? '') && !names.includes(name))
}

/** Returns the SQL of a migration and of its entry in that table as one text, which D1 applies atomically. */
export const migrationText = ({ name, sql }: Migration) =>
  `${sql.trim()}\nINSERT OR IGNORE INTO d1_migrations (name) VALUES ('${name}');\n`

const TRIGGER = /^\s*(create|drop)\s+trigger\s+(?:if\s+(?:not\s+)?exists\s+)?["'`[]?(\w+).*$/gim
const FULL_TEXT = /^\s*create\s+virtual\s+table\s.*$/gim

/** Returns the triggers that a database has after these migrations, by name, with the statements that create them. */
export function triggersOf(migrations: Migration[]): Map<string, string> {
  const triggers = new Map<string, string>()
  for (const { sql } of migrations)
    for (const [statement, verb = '', name = ''] of withoutComments(sql).matchAll(TRIGGER)) {
      if (verb.toLowerCase() === 'create') triggers.set(name, statement)
      else triggers.delete(name)
    }
  return triggers
}

/** Returns SQL that creates these triggers again, and before them the full-text tables, which are missing if their triggers are. */
export function triggersAgain(migrations: Migration[], names: string[]): string {
  const triggers = triggersOf(migrations)
  const tables = migrations.flatMap(({ sql }) => [...withoutComments(sql).matchAll(FULL_TEXT)].map(([text]) => text))
  return [...tables, ...names.map((name) => triggers.get(name)!)].join('\n')
}

const withoutComments = (sql: string) => sql.replace(/^\s*--.*$/gm, '')

/** The last migration of an empty database. Later ones run on tables of any size. */
const FIRST_SCHEMA = '0001_triggers.sql'
/** Statements that read or write every row of a table, with the name of that table. */
const WHOLE_TABLE = [
  /^create\s+(?:unique\s+)?index\s.*?\son\s+["'`[]?(\w+)/i,
  /^update\s+(?:or\s+\w+\s+)?["'`[]?(\w+)/i,
  /^delete\s+from\s+["'`[]?(\w+)/i,
  /^insert\b(?!.*\bvalues\b).*\bselect\b.*?\bfrom\s+["'`[]?(\w+)/i,
  /^alter\s+table\s+["'`[]?(\w+)["'`\]]?\s+drop\b/i,
  /^(reindex)\b/i,
]
const WHOLE_TABLE_RULE =
  'D1 ends a statement after 30 seconds: build it in steps (docs/development/migrations.md), or say in a comment above, `-- Whole table: …`, why it is fast'

/** Returns the lines of statements that read or write a whole table which may have grown, and that no comment explains. */
function wholeTableLines({ name, sql }: Migration): number[] {
  if (name <= FIRST_SCHEMA) return []
  const created = [...sql.matchAll(/^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?["'`[]?(\w+)/gim)].map(
    ([, table]) => table,
  )
  const lines = sql.split('\n')
  return lines.flatMap((_, at) => {
    const [statement = ''] = lines.slice(at).join(' ').trimStart().split(';')
    const table = WHOLE_TABLE.map((pattern) => pattern.exec(statement)?.[1]).find((match) => match !== undefined)
    const isExplained = /^\s*-- Whole table: \S/.test(lines[at - 1] ?? '')
    return table === undefined || created.includes(table) || isExplained ? [] : [at]
  })
}

/**
 * Returns the reasons why D1 would reject a migration, or would fail when the migration is repeated. D1 splits a file into statements
 * itself. It has wrongly split triggers that span several lines, that contain a lower-case `begin` or a CASE, or that are next to a comment
 * with a semicolon. D1 also ends a statement that takes longer than 30 seconds, as one for a whole table can.
 */
export function migrationFaults({ name, sql }: Migration): string[] {
  const hasTrigger = /\bcreate\s+trigger\b/i.test(withoutComments(sql))
  const wholeTable = wholeTableLines({ name, sql })
  const faults = sql.split('\n').flatMap((line, at) => {
    const faultIf = (isWrong: boolean, rule: string) => (isWrong ? [`drizzle/${name}:${at + 1}: ${rule}`] : [])
    if (line.trimStart().startsWith('--'))
      return faultIf(line.replace(/^--> /, '').includes(';'), 'a comment has no semicolons')
    const isTrigger = /\bcreate\s+trigger\b/i.test(line)
    const isOneLine = /^CREATE TRIGGER IF NOT EXISTS \w+ .* BEGIN .*; END;$/.test(line)
    const isNotRepeatable =
      hasTrigger && /^\s*(alter table|drop (?!.*\bif exists\b)|create (?!.*\bif not exists\b))/i.test(line)
    return [
      ...faultIf(line.endsWith('\r'), 'lines end with LF only'),
      ...faultIf(wholeTable.includes(at), WHOLE_TABLE_RULE),
      ...faultIf(isTrigger && !isOneLine, 'a trigger is one line: CREATE TRIGGER IF NOT EXISTS … BEGIN …; END;'),
      ...faultIf(isTrigger && /\bcase\b/i.test(line), 'no CASE in a trigger: two statements, each with its WHERE'),
      ...faultIf(
        !isTrigger && isNotRepeatable,
        'next to triggers, only statements that may run twice: an import repeats a file that was cut off',
      ),
    ]
  })
  return faults
}
