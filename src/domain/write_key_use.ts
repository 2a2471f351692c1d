import { and, eq, isNull, lt, or } from 'drizzle-orm'

import { apiKeys } from '../adapters/db/schema/api_keys.ts'
import type { System } from '../context.ts'
import type { KeyUse } from './key_use.ts'

/** Writes the time at which a key was used, unless the row has a later time. */
export async function writeKeyUse({ db }: System, { api_key_id, used_at }: KeyUse): Promise<void> {
  const older = or(isNull(apiKeys.last_used_at), lt(apiKeys.last_used_at, used_at))
  await db
    .update(apiKeys)
    .set({ last_used_at: used_at })
    .where(and(eq(apiKeys.id, api_key_id), older))
}
