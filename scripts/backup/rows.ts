import { createReadStream } from 'node:fs'
import { appendFile, truncate, writeFile } from 'node:fs/promises'

import type { Row } from '../../src/contract/backup.ts'
import { progressPrinter, type Service } from './service.ts'
import { type State, tableFile, writeState } from './state.ts'
import { jsonLines, type Store } from './store.ts'

/** Reads all tables into the work directory, and continues where an earlier run was stopped. */
export async function readTables(service: Service, store: Store, state: State, walks: string[]): Promise<void> {
  for (const walk of walks) {
    await readWalk(service, store, state, walk)
    // A cursor and the days that it has counted must belong together. The cursors move once an hour. An export has no cursors.
    if (walk === 'usage_days' && walks.includes('usage_cursors') && (await haveCursorsMoved(service, store))) {
      for (const again of ['usage_cursors', 'usage_days']) {
        await restart(store, state, again)
        await readWalk(service, store, state, again)
      }
    }
  }
}

async function readWalk(service: Service, store: Store, state: State, walk: string): Promise<void> {
  const progress = progressPrinter()
  const position = (state.walks[walk] ??= { after: null, isDone: false })
  let count = 0
  while (!position.isDone) {
    const page = await service.call('rows', { walk, after: position.after })
    for (const [table, rows] of Object.entries(page.rows)) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      await appendFile(tableFile(store, table), text, { mode: 0o600 })
      state.sizes[table] = (state.sizes[table] ?? 0) + Buffer.byteLength(text)
      count += rows.length
    }
    position.after = page.after
    position.isDone = page.after === null
    await writeState(store, state)
    if (position.isDone) console.log(`rows      ${walk}: ${count}`)
    else progress(() => `rows      ${walk}: ${count} …`)
  }
}

async function haveCursorsMoved(service: Service, store: Store): Promise<boolean> {
  const { rows } = await service.call('rows', { walk: 'usage_cursors', after: null })
  const before: Row[] = []
  for await (const row of readTable(store, 'usage_cursors')) before.push(row)
  return JSON.stringify(rows.usage_cursors) !== JSON.stringify(before)
}

async function restart(store: Store, state: State, walk: string): Promise<void> {
  delete state.walks[walk]
  state.sizes[walk] = 0
  // The state first: after a kill, the next run truncates the file to the size in the state, which must not be larger than the file.
  await writeState(store, state)
  await truncate(tableFile(store, walk), 0)
}

/** Reads the rows of a table from the work directory. */
export const readTable = (store: Store, table: string) => jsonLines<Row>(createReadStream(tableFile(store, table)))

/** Creates an empty file for each table, so that every table has one. */
export async function createFiles(store: Store, state: State, tables: string[]): Promise<void> {
  for (const table of tables) {
    if (state.sizes[table] !== undefined) continue
    await writeFile(tableFile(store, table), '', { mode: 0o600 })
    state.sizes[table] = 0
  }
  await writeState(store, state)
}
