import { inArray, sql } from 'drizzle-orm'

import { sha256 } from '../../adapters/crypto/secret.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { inJsonList, isDuplicate, runBatch } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { retrying } from '../../adapters/db/retry.ts'
import { shares } from '../../adapters/db/schema/shares.ts'
import type { Context, Handlers } from '../../context.ts'
import type { PlayScope } from '../../contract/play.ts'
import type { NewShare, shareBatchOperations } from '../../contract/share_batch.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { FIND_RESOURCE } from '../keys/access.ts'
import { toColumns } from '../keys/restrictions.ts'
import { checkFeed } from './feed_access.ts'
import { insertShare, newShare, slugColumns, slugTaken, splitShare, withId } from './share.ts'

/** Creates many shares at once. All inserts are in one batch, so either all of them are tried or none. */

/** Returns the columns of the shares. Throws 400 if one is not valid, so that none is created. */
async function columnsOf(context: Context, list: NewShare[]) {
  const wanted = []
  const known = new Set<string>()
  for (const [at, share] of list.entries()) {
    // All attempts of a request with an Idempotency-Key have the same ids.
    const seed = context.seed && (await sha256(`${context.seed}\n${at}`))
    try {
      const { scope, id: resource_id, settings } = splitShare(share)
      const { slug = null, variants = null, ...restrictions } = settings
      const isKnown = variants?.every((name) => known.has(name)) ?? true
      const { variants: _, ...columns } = await toColumns(context, {
        ...restrictions,
        variants: isKnown ? [] : variants,
      })
      const values = {
        ...columns,
        ...slugColumns(slug),
        ...newShare(context, rowId({ seed })),
        variants,
        scope,
        resource_id,
      }
      checkFeed(values)
      for (const name of variants ?? []) known.add(name)
      wanted.push(values)
    } catch (error) {
      const { code, details } = error as ApiError
      const [fault] = error instanceof ApiError ? (details.errors ?? []) : []
      throw fault ? invalid(`shares.${at}.${fault.path}`, fault.message, code as Parameters<typeof invalid>[2]) : error
    }
  }
  return wanted
}

/** Returns a function that returns why a share was not created. Each resource is read once. */
function reasons(context: Context) {
  const found = new Map<string, Promise<ApiError | null>>()
  return async ({ scope, resource_id, slug }: { scope: PlayScope; resource_id: string; slug: string }) => {
    const key = `${scope} ${resource_id}`
    const missing =
      found.get(key) ??
      FIND_RESOURCE[scope](context, resource_id).then(
        () => null,
        (error: unknown) => {
          if (error instanceof ApiError) return error
          throw error
        },
      )
    found.set(key, missing)
    return (await missing) ?? slugTaken(slug)
  }
}

export const shareBatchHandlers: Handlers<typeof shareBatchOperations> = {
  async createShares({ body }, context) {
    const { db } = context
    const wanted = await columnsOf(context, body.shares)
    const inserts = wanted.map((values) => insertShare(context, values))
    const ids = inJsonList(wanted.map(({ id }) => id))
    const event = recordEvents(context, 'share.created', sql`shares where id in ${ids}`)
    const created = db.select().from(shares).where(inArray(shares.id, ids))
    const rows = await retrying(() => runBatch(db, [...inserts, event, created])).then(
      (resultOf) => resultOf(created),
      (error: unknown) => {
        // An earlier attempt has inserted the rows, although its response was lost.
        if (isDuplicate(error)) return created
        throw error
      },
    )
    const rowOf = new Map(rows.map((row) => [row.id, row]))
    const reasonOf = reasons(context)
    const results = await Promise.all(
      wanted.map(async (values) => {
        const row = rowOf.get(values.id)
        if (row) return { ok: true, ...withId(context, row) }
        const { code, message } = await reasonOf(values)
        return { ok: false, code, message }
      }),
    )
    return { done: rows.length, refused: results.length - rows.length, results }
  },
}
