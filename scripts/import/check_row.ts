import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

import { SECRETS } from '../../src/adapters/db/organization_tables.ts'
import * as apiKeys from '../../src/adapters/db/schema/api_keys.ts'
import * as events from '../../src/adapters/db/schema/events.ts'
import * as library from '../../src/adapters/db/schema/library.ts'
import * as reservations from '../../src/adapters/db/schema/reservations.ts'
import * as shares from '../../src/adapters/db/schema/shares.ts'
import * as trash from '../../src/adapters/db/schema/trash.ts'
import * as uploadHandles from '../../src/adapters/db/schema/upload_handles.ts'
import * as usage from '../../src/adapters/db/schema/usage.ts'
import * as webhooks from '../../src/adapters/db/schema/webhooks.ts'
import * as work from '../../src/adapters/db/schema/work.ts'
import type { Row } from '../../src/contract/backup.ts'

/** Checks one row of an export against the schema of its table. */

const modules = [apiKeys, events, library, reservations, shares, trash, uploadHandles, usage, webhooks, work]
/** The stored columns of each table, by name. */
const COLUMNS = new Map(
  modules
    .flatMap((module) => Object.values<unknown>(module))
    .filter((value) => is(value, SQLiteTable))
    .map((table) => {
      const left = SECRETS[getTableName(table)] ?? []
      const columns = getTableConfig(table).columns.filter(({ name, generated }) => !generated && !left.includes(name))
      return [getTableName(table), new Map(columns.map((column) => [column.name, column]))]
    }),
)

/** The form of columns that become parts of paths (src/adapters/bucket/track_paths.ts), which must not lead to another folder. */
const PATH_PARTS: Record<string, RegExp> = {
  index: /^\w+$/,
  folder_id: /^[\da-f-]{36}$/,
  source_suffix: /^(\.[\da-z]{9}\w{6})?$/,
  upload_suffix: /^(\.[\da-z]{9}\w{6})?$/,
}

/** The columns of the rows of `Listening` objects (src/resources/operator/backup_listening.ts). */
const LISTENING = ['organization_id', 'shard', 'name', 'row']

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns what is wrong with a value; null if the column accepts it. */
function faultOfValue(column: SQLiteColumn, value: unknown): string | null {
  if (value === null || value === undefined) return column.notNull ? 'is missing' : null
  const type = column.getSQLType()
  if (type === 'integer') return Number.isSafeInteger(value) ? null : 'is no integer'
  if (type === 'real') return typeof value === 'number' ? null : 'is no number'
  if (typeof value !== 'string') return 'is no text'
  if (type === 'blob') return /^([\dA-F]{2})*$/.test(value) ? null : 'is not hexadecimal'
  // The types of these columns do not say that they hold JSON.
  const holdsJson = column.dataType === 'json' || ['info', 'folded'].includes(column.name)
  return holdsJson && !isJson(value) ? 'is no JSON' : null
}

function faultOfListening(row: Row): string | null {
  const unknown = Object.keys(row).find((name) => !LISTENING.includes(name))
  if (unknown !== undefined) return `has the column ${JSON.stringify(unknown)}, which its table does not have`
  if (!Number.isInteger(row.shard) || Number(row.shard) < 0) return 'has no shard'
  const isName = (name: unknown) => typeof name === 'string' && /^\w+$/.test(name)
  const content: unknown = isJson(String(row.row)) ? JSON.parse(String(row.row)) : null
  const isRow = content !== null && typeof content === 'object' && Object.keys(content).every(isName)
  return isName(row.name) && isRow ? null : 'is not a row of an object'
}

/** Returns what is wrong with a row of a table; null if it could be a row of the organization. */
export function faultOfRow(table: string, row: Row, organization_id: string): string | null {
  if (
    table === 'organizations'
      ? row.id !== organization_id
      : row.organization_id !== undefined && row.organization_id !== organization_id
  )
    return `belongs to another organization than ${organization_id}`
  if (table === 'listening')
    return row.organization_id === organization_id ? faultOfListening(row) : 'has no organization_id'
  const columns = COLUMNS.get(table)
  if (!columns) return `is in the unknown table ${table}`
  const unknown = Object.keys(row).find((name) => !columns.has(name))
  if (unknown !== undefined) return `has the column ${JSON.stringify(unknown)}, which its table does not have`
  for (const [name, column] of columns) {
    const problem = faultOfValue(column, row[name])
    if (problem !== null) return `has a column ${name} that ${problem}`
    const part = table === 'tracks' && PATH_PARTS[name]
    if (part && row[name] !== null && !part.test(String(row[name])))
      return `has a column ${name} that is no part of a path`
  }
  return null
}
