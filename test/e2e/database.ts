import type { Shared } from './shared_stack.ts'

type Row = Record<string, string | number | null>

/**
 * Runs SQL statements in a stack's database and returns the rows of the last one. They go through wrangler, because D1 fails requests while another
 * program writes to its file.
 */
export async function query({ base_url }: Pick<Shared, 'base_url'>, sql: string): Promise<Row[]> {
  const response = await fetch(`${base_url}/cdn-cgi/local/explorer/api/d1/database/DB/raw`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  })
  if (!response.ok) throw new Error(`${sql}: ${response.status} ${await response.text()}`)
  const { result } = (await response.json()) as { result: { results: { columns: string[]; rows: Row[string][][] } }[] }
  const { columns, rows } = result.at(-1)!.results
  return rows.map((values) => Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null])))
}
