import type { Client } from '../../adapters/db/query.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import type { Context } from '../../context.ts'

/** Returns the name of the organization that has made a share. It is all that a visitor sees of a share before the password is entered. */
export const makerOf = async ({ db }: Context<Client>, { organization_id }: ShareRow): Promise<string> =>
  (await db.$client
    .prepare('select name from organizations where id = ?')
    .bind(organization_id)
    .first<string>('name')) ?? ''
