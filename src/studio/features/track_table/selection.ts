/** The rows that the user has selected. */
export interface Selection<T> {
  /** Whether everything that matches is selected, except `rows`. Rows that were not read are selected as well. */
  isAll: boolean
  rows: ReadonlyMap<string, T>
}

export const nothing = <T>(): Selection<T> => ({ isAll: false, rows: new Map() })

interface Row {
  id: string
}

export const isSelected = ({ isAll, rows }: Selection<unknown>, id: string): boolean => isAll !== rows.has(id)

/** Returns the number of selected rows in a list of `total` rows. */
export const sizeOf = ({ isAll, rows }: Selection<unknown>, total: number): number =>
  isAll ? Math.max(0, total - rows.size) : rows.size

/** Returns the selection after rows were selected, or with `wanted` false, no longer selected. */
export function withRows<T extends Row>({ isAll, rows }: Selection<T>, changed: readonly T[], wanted: boolean) {
  const next = new Map(rows)
  for (const row of changed) {
    if (wanted === isAll) next.delete(row.id)
    else next.set(row.id, row)
  }
  return { isAll, rows: next }
}

/** Returns the selection without rows that no longer exist. */
export function withoutRows<T extends Row>({ isAll, rows }: Selection<T>, ids: ReadonlySet<string>): Selection<T> {
  return { isAll, rows: new Map([...rows].filter(([id]) => !ids.has(id))) }
}
