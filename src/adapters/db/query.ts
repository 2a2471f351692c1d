/**
 * Statements on the path of listeners, as text: in a new isolate, loading Drizzle and building the SQL would take longer than the rest of the first
 * play view (docs/decisions/0029). The types come from Drizzle's tables, so an unknown column does not compile.
 */

/** Drizzle's database, or any object with only its D1 client. */
export interface Client {
  $client: D1Database
}

/** How a column's value is read: unchanged, as a boolean, or as JSON. */
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
/** Some columns of a row, and their type. */
export interface Part<T> {
  columns: Column[]
  row?: T
}

/** The columns to read from a table's rows, each with its kind; `computed` replaces a column by an SQL expression. */
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

type SelectedRow<P> = { [N in keyof P]: P[N] extends Part<infer T> ? T | null : never }
type Values = Record<string, unknown>

function read(value: unknown, kind: Column['kind']): unknown {
  if (value === null || kind === 'plain') return value
  return kind === 'flag' ? value === 1 : JSON.parse(value as string)
}

/**
 * Selects rows in parts. `from` is the SQL after the columns, with `:name` for a value. A part whose first column is null is null, as after a left
 * join without a match. Every column has a unique alias: D1's batch returns objects, in which equal names would overwrite each other.
 */
export function selectOf<const P extends Record<string, Part<unknown>>>(parts: P) {
  const entries = Object.entries(parts)
  const list = entries
    .flatMap(([name, { columns }]) => columns.map(({ key, sql }) => `${sql} as "${name}_${key}"`))
    .join()

  function decode(row: unknown[]): SelectedRow<P> {
    const decoded: Record<string, Values | null> = {}
    let at = 0
    for (const [name, { columns }] of entries) {
      const part: Values = {}
      decoded[name] = row[at] === null ? null : part
      for (const { key, kind } of columns) part[key] = read(row[at++], kind)
    }
    return decoded as SelectedRow<P>
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
      /** Decodes the rows of a batch. */
      decode: (rows: Values[]): SelectedRow<P>[] => rows.map((row) => decode(Object.values(row))),
      /** Runs the statement alone and returns the first row. */
      async get(client: Client, values: Values): Promise<SelectedRow<P> | undefined> {
        const [row] = await bind(client, values).raw()
        return row && decode(row)
      },
    }
  }
}

/** Runs bound statements in one round trip, as one transaction; returns the rows of each. */
export const batch = async ({ $client }: Client, bound: D1PreparedStatement[]) =>
  (await $client.batch<Values>(bound)).map(({ results }) => results)
