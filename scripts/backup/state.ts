import { mkdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'

import { readJsonFile, replaceFile, type Store } from './store.ts'

/** A backup that has not finished. It is written after every page, so that the next run continues there. */
export interface State {
  backup_id: string
  base_url: string
  /** Set for an export. */
  organization_id?: string
  started_at: string
  /** Set when the first row is read. */
  cut?: { at: string; last_event: number | null }
  schema_version: string
  secret_fingerprint: string
  /** How far each walk has come. */
  walks: Record<string, { after: (string | number)[] | null; isDone: boolean }>
  /** The bytes of each table's file that belong to complete pages. */
  sizes: Record<string, number>
}

const pathOf = (store: Store) => join(store.workDirectory, 'state.json')

export const tableFile = (store: Store, table: string) => join(store.workDirectory, `${table}.ndjson`)
export const objectsFile = (store: Store) => join(store.workDirectory, 'objects.ndjson')

export const readState = (store: Store) => readJsonFile<State>(pathOf(store))
export const writeState = (store: Store, state: State) => replaceFile(pathOf(store), JSON.stringify(state))

/** Removes the bytes that were written after the last complete page. */
export async function trimFiles(store: Store, { sizes }: State): Promise<void> {
  await mkdir(store.workDirectory, { recursive: true })
  for (const [table, size] of Object.entries(sizes)) await truncate(tableFile(store, table), size)
}

export const removeState = (store: Store) => rm(store.workDirectory, { recursive: true, force: true })
