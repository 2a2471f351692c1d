/**
 * Statements that listeners wait for, as text: an isolate's first play view would pay for Drizzle, and for its writing of them, more than
 * for all the rest (docs/decisions/0029). The tables' types are Drizzle's, so a column that is not there does not compile.
 */

/** What leads to D1: Drizzle's database, or as little. */
export interface Client {
  $client: D1Database
}

/** How a column's value is read: as it is, as a boolean, or as JSON. */
type Kind<T> = [NonNullable<T>] extends [string | number]
  ? 'plain'
  : [NonNullable<T>] extends [boolean]
    ? 'flag'
    : 'json'

interface Column {
  key: string
  sql: string
  kind: Kind<unknown> | 'plain' | 'flag'
}
/** Some columns of a row, and its type. */
export interface Part<T> {
  columns: Column[]
  row?: T
}

/** The columns of a table's rows that are read, and how; `computed` are those that an expression stands for. */
export const columnsOf =
  <T>(table: string) =>
  <const K extends keyof T & string>(kinds: { [N in K]: Kind<T[N]> }, computed: { [N in K]?: string } = {}) => {
    const columns = (Object.entries(kinds) as [K, Column['kind']][]).map(([key, kind]) => ({
      key,
      kind,
      sql: computed[key] ?? `${table}."${key}"`,
    }))
    return { columns } as Part<Pick<T, K>>
  }

type Row<P> = { [N in keyof P]: P[N] extends Part<infer T> ? T | null : never }
type Values = Record<string, unknown>

function read(value: unknown, kind: Column['kind']): unknown {
  if (value === null || kind === 'plain') return value
  return kind === 'flag' ? value === 1 : JSON.parse(value as string)
}

/**
 * Selects rows in parts; `from` is all that follows their columns, with `:name` for a value. A part whose first column is null is null, as
 * of a left join that finds nothing. Every column gets a name of its own: D1's batch answers objects keyed by it, in which equal names
 * would be lost.
 */
export function selectOf<const P extends Record<string, Part<unknown>>>(parts: P) {
  const all = Object.entries(parts)
  const list = all.flatMap(([name, { columns }]) => columns.map(({ key, sql }) => `${sql} as "${name}_${key}"`)).join()

  function decode(row: unknown[]): Row<P> {
    const decoded: Record<string, Values | null> = {}
    let at = 0
    for (const [name, { columns }] of all) {
      const part: Values = {}
      decoded[name] = row[at] === null ? null : part
      for (const { key, kind } of columns) part[key] = read(row[at++], kind)
    }
    return decoded as Row<P>
  }

  return (from: string) => {
    const names: string[] = []
    const text = `select ${list} ${from}`.replace(/:(\w+)/g, (_, name: string) => {
      if (!names.includes(name)) names.push(name)
      return `?${names.indexOf(name) + 1}`
    })
    const bind = ({ $client }: Client, values: Values) =>
      $client.prepare(text).bind(...names.map((name) => values[name]))
    return {
      bind,
      /** Rows of a batch. */
      decode: (rows: Values[]): Row<P>[] => rows.map((row) => decode(Object.values(row))),
      /** On its own; the first row. */
      async get(client: Client, values: Values): Promise<Row<P> | undefined> {
        const [row] = await bind(client, values).raw()
        return row && decode(row)
      },
    }
  }
}

/** Runs bound statements in one trip, as one transaction; answers the rows of each. */
export const batch = async ({ $client }: Client, bound: D1PreparedStatement[]) =>
  (await $client.batch<Values>(bound)).map(({ results }) => results)
