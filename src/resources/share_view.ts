import { eq, sql } from 'drizzle-orm'

import { openDatabase } from '../adapters/database.ts'
import { type ShareRow, shares } from '../adapters/share_schema.ts'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { type Embed, readEmbed, sharesAsSessions } from './embed.ts'

export type { ShareRow }

/** The share at an address. From the primary: a copy may be behind, and what was revoked must not open. */
export const shareAt = async (env: Env, slug: string): Promise<ShareRow | undefined> =>
  openDatabase(env.DB).select().from(shares).where(eq(shares.slug, slug.toLowerCase())).get()

export const hasEnded = ({ expires_at }: ShareRow, now: number) => expires_at !== null && expires_at <= now

/** The same for a visitor: 404 when there never was one, 410 when it was revoked or has ended by itself. */
export async function openShare(env: Env, slug: string, now: number): Promise<ShareRow> {
  const share = await shareAt(env, slug)
  if (!share) {
    const former = await openDatabase(env.DB).get(sql`select 1 from former_slugs where slug = ${slug.toLowerCase()}`)
    throw former ? new ApiError('share_revoked', 'This share was revoked') : notFound('share')
  }
  if (hasEnded(share, now)) throw new ApiError('session_expired', 'This share has ended')
  return share
}

/** What is said of a share that its visitor may see. */
export async function embedOfShare(context: Context, share: ShareRow): Promise<Embed> {
  const embed = await readEmbed(context, share.id, sharesAsSessions(context.db))
  return { ...embed, title: share.title ?? embed.title }
}
