import { MAX_PAGE } from '../contract/facts.ts'
import type { Client } from './client.ts'
import type { Arguments, OperationAt, Path, Result } from './types.ts'

/** The paths that answer a page of a list. */
export type ListPath = {
  [P in Path<'get'>]: Result<OperationAt<'get', P>> & { ok: true } extends { count: number } ? P : never
}[Path<'get'>]

/**
 * All pages of a list, one after the other: `for await (const page of pages(client, '/v1/collection')) …`. A page that could not be
 * read is `{ok: false, …}` and the last one.
 */
export async function* pages<P extends ListPath>(
  client: Client,
  path: P,
  options?: Arguments<OperationAt<'get', P>>,
  limit = MAX_PAGE,
): AsyncGenerator<Result<OperationAt<'get', P>>> {
  const get = client.get as unknown as (path: string, options: object) => Promise<Result<OperationAt<'get', P>>>
  const query = (options as { query?: object } | undefined)?.query
  for (let offset = 0; ; offset += limit) {
    const page = await get(path, { ...options, query: { ...query, limit, offset } })
    yield page
    if (!page.ok || offset + limit >= (page as unknown as { count: number }).count) return
  }
}
