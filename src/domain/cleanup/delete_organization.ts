import { eq } from 'drizzle-orm'

import { organizationPrefixes } from '../../adapters/bucket/media.ts'
import { apiKeys } from '../../adapters/db/schema/api_keys.ts'
import { shares } from '../../adapters/db/schema/shares.ts'
import { usageDays } from '../../adapters/db/schema/usage.ts'
import { webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import type { System } from '../../context.ts'
import { DELETED_ENDPOINT } from '../webhooks/old_deliveries.ts'
import { purgeJobs } from './purge.ts'

/**
 * Returns the statements that end all access to an organization, for the batch that deletes its row, and those that insert the jobs that delete the
 * other rows and the files in the background. Pass `purge` to `startPurge`. The second job runs after the last URL that allows a write has expired.
 */
export function deleteOrganization(system: System, id: string) {
  const { db } = system
  const prefixes = organizationPrefixes(id)
  const { purge, inserts } = purgeJobs(system, id, [{ id, prefixes }], { organization_id: id })
  const statements = [
    db.delete(apiKeys).where(eq(apiKeys.organization_id, id)),
    db.delete(shares).where(eq(shares.organization_id, id)),
    // Once these rows and that of the organization are deleted, nothing is counted for it anymore.
    db.delete(usageDays).where(eq(usageDays.organization_id, id)),
    // From now on, no webhooks are sent either. The sweep deletes the rows of these endpoints.
    db.update(webhookEndpoints).set(DELETED_ENDPOINT).where(eq(webhookEndpoints.organization_id, id)),
  ] as const
  return { purge, inserts, statements }
}
