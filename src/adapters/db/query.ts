/**
 * Builds the SQL for the requests of listeners as plain text: a new isolate would need more time to load Drizzle and build the SQL with it than for
 * the rest of its first play view (docs/decisions/0029). The types come from Drizzle's tables, so an unknown column does not compile.
 */

/** Drizzle's database, or any object that has its D1 client. */
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
/** The columns that a statement reads from one table, with the type of their values. */
export interface Part<T> {
  columns: () => Column[]
  row?: T
}

/** Postpones work until its result is first needed: an isolate has many statements, and its first request needs one or two. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Defines the columns to read from a table, each with its kind. `computed` replaces columns with SQL expressions. */
export const columnsOf =
  <T>(table: string) =>
  <const K extends keyof T & string>(kinds: { [N in K]: Kind<T[N]> }, computed: { [N in K]?: string } = {}) => {
    const columns = once(() =>
      (Object.entries(kinds) as [K, Column['kind']][]).map(([key, kind]) => ({
        key,
        kind,
        sql: computed[key] ?? `${table}."${key}"`,
      })),
    )
    return { columns } as Part<Pick<T, K>>
  }

type SelectedRow<P> = { [N in keyof P]: P[N] extends Part<infer T> ? T | null : never }
type Values = Record<string, unknown>

function read(value: unknown, kind: Column['kind']): unknown {
  if (value === null || kind === 'plain') return value
  return kind === 'flag' ? value === 1 : JSON.parse(value as string)
}

/**
 * Builds a statement that selects rows in parts, one for each table. `from` is the SQL after the columns, with `:name` for a parameter. A part is
 * null if its first column is null, as after a left join without a match. Every column has a unique alias, because D1's batch returns objects, in
 * which equal names would overwrite each other.
 */
export function selectOf<const P extends Record<string, Part<unknown>>>(parts: P) {
  const entries = Object.entries(parts)
  const list = once(() =>
    entries.flatMap(([name, { columns }]) => columns().map(({ key, sql }) => `${sql} as "${name}_${key}"`)).join(),
  )

  function decode(row: unknown[]): SelectedRow<P> {
    const decoded: Record<string, Values | null> = {}
    let at = 0
    for (const [name, { columns }] of entries) {
      const part: Values = {}
      decoded[name] = row[at] === null ? null : part
      for (const { key, kind } of columns()) part[key] = read(row[at++], kind)
    }
    return decoded as SelectedRow<P>
  }

  return (from: string) => {
    const statement = once(() => {
      const names: string[] = []
      const text = `select ${list()} ${from}`.replace(/:(\w+)/g, (_, name: string) => {
        if (!names.includes(name)) names.push(name)
        return `?${names.indexOf(name) + 1}`
      })
      return { text, names }
    })
    const query = {
      /** Builds the text now instead of with the first use: for the statements that most isolates need first. */
      atStart() {
        statement()
        return query
      },
      bind({ $client }: Client, values: Values) {
        const { text, names } = statement()
        return $client.prepare(text).bind(...names.map((name) => values[name]))
      },
      /** Decodes the rows that a batch has returned. */
      decode: (rows: Values[]): SelectedRow<P>[] => rows.map((row) => decode(Object.values(row))),
      /** Runs only this statement and returns the first row. */
      async get(client: Client, values: Values): Promise<SelectedRow<P> | undefined> {
        const [row] = await query.bind(client, values).raw()
        return row && decode(row)
      },
    }
    return query
  }
}

/** Runs bound statements as one transaction in one round trip. Returns the rows of each statement. */
export const batch = async ({ $client }: Client, bound: D1PreparedStatement[]) =>
  (await $client.batch<Values>(bound)).map(({ results }) => results)
