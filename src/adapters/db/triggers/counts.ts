/**
 * The triggers that count the rows of lists in `list_counts` (src/adapters/db/schema/counters.ts). All follow from the table `LISTS`.
 */

interface List {
  /** The column with the owner of a row's list; null if all rows are in one list. */
  owner: 'organization_id' | 'collection_id' | null
  /** The column that orders the list. */
  order: string
  /** The columns by which the list can be filtered. Each value that is not null is counted as well. */
  filters: string[]
  /** The columns among all of these that an update can change. */
  changing: string[]
}

const FILTERS = ['creator_id', 'organization_index']

export const LISTS = {
  organizations: { owner: null, order: 'seq', filters: [], changing: [] },
  api_keys: { owner: 'organization_id', order: 'seq', filters: [], changing: [] },
  collections: { owner: 'organization_id', order: 'seq', filters: FILTERS, changing: FILTERS },
  playlists: { owner: 'organization_id', order: 'seq', filters: FILTERS, changing: FILTERS },
  tracks: {
    owner: 'collection_id',
    order: '"order"',
    filters: ['status', ...FILTERS],
    changing: ['collection_id', '"order"', 'status', ...FILTERS],
  },
  shares: { owner: 'organization_id', order: 'seq', filters: ['resource_id'], changing: [] },
  trash: { owner: 'organization_id', order: 'seq', filters: [], changing: [] },
} satisfies Record<string, List>

/** The key of a row of `list_counts`, and the condition under which it counts a row of the list, in SQL. */
interface Count {
  list: string
  level: number
  bucket: string
  condition: string
}

/** SQL for the name of the list that contains a row: `tracks:{collection_id}`. `row` is `new.`, `old.` or empty. */
const listName = (table: string, { owner }: List, row: string) =>
  owner ? `'${table}:' || ${row}${owner}` : `'${table}'`

const totalOf = (list: string): Count => ({ list, level: 0, bucket: '0', condition: 'true' })

/** The counts of ranges of 256 and 16,384 positions, by which a high `offset` is found. */
const rangesOf = (list: string, position: string): Count[] =>
  [8, 14].map((bits, at) => ({ list, level: at + 1, bucket: `${position} >> ${bits}`, condition: 'true' }))

const filteredBy = (list: string, filter: string, row: string): Count => ({
  ...totalOf(`${list} || '?${filter}=' || ${row}${filter}`),
  condition: `${row}${filter} IS NOT NULL`,
})

/** The counts that contain a row; with `changed`, only those that change with this column. */
export function countsOf(table: string, definition: List, row: string, changed?: string): Count[] {
  const list = listName(table, definition, row)
  const all = changed === undefined || changed === definition.owner
  return [
    ...(all ? [totalOf(list)] : []),
    ...(all || changed === definition.order ? rangesOf(list, row + definition.order) : []),
    ...definition.filters.filter((name) => all || changed === name).map((name) => filteredBy(list, name, row)),
  ]
}

const add = ({ list, level, bucket, condition }: Count) => `
  INSERT INTO list_counts (list, level, bucket, count) SELECT ${list}, ${level}, ${bucket}, 1 WHERE ${condition}
  ON CONFLICT (list, level, bucket) DO UPDATE SET count = count + 1;`

/** A count of one is deleted before it would become 0, because deleting it later would be one more row written. */
function subtract({ list, level, bucket }: Count): string {
  const key = `list = ${list} AND level = ${level} AND bucket = ${bucket}`
  return `
  DELETE FROM list_counts WHERE ${key} AND count = 1;
  UPDATE list_counts SET count = count - 1 WHERE ${key};`
}

function triggersOf([table, list]: [string, List]): string[] {
  const added = (changed?: string) => countsOf(table, list, 'new.', changed).map(add).join('')
  const subtracted = (changed?: string) => countsOf(table, list, 'old.', changed).map(subtract).join('')
  const changesOwner = list.owner !== null && list.changing.includes(list.owner)
  return [
    `CREATE TRIGGER ${table}_count_insert AFTER INSERT ON ${table} BEGIN ${added()} END;`,
    `CREATE TRIGGER ${table}_count_delete AFTER DELETE ON ${table} BEGIN ${subtracted()} END;`,
    ...list.changing.map((column) => {
      const isChanged =
        column === list.order ? `(old.${column} >> 8) <> (new.${column} >> 8)` : `old.${column} IS NOT new.${column}`
      // If the owner changes as well, its trigger counts everything.
      const isSameList = column !== list.owner && changesOwner ? ` AND old.${list.owner} IS new.${list.owner}` : ''
      return `CREATE TRIGGER ${table}_count_${column.replaceAll('"', '')} AFTER UPDATE OF ${column} ON ${table}
        WHEN ${isChanged}${isSameList} BEGIN ${subtracted(column)} ${added(column)} END;`
    }),
  ]
}

export const COUNT_TRIGGERS = Object.entries<List>(LISTS).flatMap(triggersOf)
