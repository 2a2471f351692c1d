import type { Client } from '../../adapters/db/query.ts'

/**
 * Reads from the nearest replica of the database, which may lag behind the primary. If the read fails there, it may be repeated at the primary
 * (docs/decisions/0075). The cast is safe because callers use only the methods that a session has.
 */
export const readNearest = <T>({ DB }: Env, read: (client: Client) => Promise<T>): Promise<T> =>
  read({ $client: DB.withSession('first-unconstrained') as unknown as D1Database }).catch(async (error: unknown) =>
    (await import('./read_again.ts')).readAgain(error, () => read({ $client: DB })),
  )

/** Reads from the primary. The read may be repeated after transient errors, so it must be idempotent. */
export const readPrimary = <T>($client: D1Database, read: (client: Client) => Promise<T>): Promise<T> =>
  read({ $client }).catch(async (error: unknown) =>
    (await import('./read_again.ts')).retryTransient(error, () => read({ $client })),
  )
