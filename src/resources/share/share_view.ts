import { eq, sql } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { embedRows } from '../../adapters/db/embed_rows.ts'
import { type ShareRow, shares } from '../../adapters/db/schema/shares.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { type Embed, toEmbed } from './embed.ts'

export type { ShareRow }

/** Returns the share with this slug. */
export const shareAt = async (db: Database, slug: string): Promise<ShareRow | undefined> =>
  db.select().from(shares).where(eq(shares.slug, slug)).get()

export const isExpired = ({ expires_at }: ShareRow, now: number) => expires_at !== null && expires_at <= now

/** Returns the share with this slug for a visitor. Throws 404 for an unknown slug, and 410 when the share was revoked or has expired. */
export async function openShare({ db, now }: Context, slug: string): Promise<ShareRow> {
  const share = await shareAt(db, slug)
  if (!share) {
    const wasRevoked = await db.get(sql`select 1 from retired_slugs where slug = ${slug}`)
    throw wasRevoked ? new ApiError('share_revoked', 'This share was revoked') : notFound('share')
  }
  if (isExpired(share, now)) throw new ApiError('session_expired', 'This share has ended')
  return share
}

/** Returns the embed data of a share that the visitor may see. */
export async function embedOfShare(context: Context, share: ShareRow): Promise<Embed> {
  const embed = await toEmbed(context, await embedRows.shares.get(context.db, { key: share.slug }))
  return { ...embed, title: share.title ?? embed.title }
}

/** Returns a share and its embed data for a link preview. Throws 404 for a share with a password, because its page asks for the password first. */
export async function linkPreview(context: Context, slug: string) {
  const share = await openShare(context, slug)
  if (share.password_hash !== null) throw notFound('share')
  return { share, embed: await embedOfShare(context, share) }
}

/** Returns embed data with image URLs that stay valid as long as the share. */
export function withLastingPictures(embed: Embed, address: string): Embed {
  if (!embed.has_cover) return embed
  const url = `${address}/cover.jpg`
  const { icon, small, regular } = embed.cover_image
  const at = <T extends { type: string }>(square: T) => ({ ...square, url: `${url}?size=${square.type}` })
  const cover_image = { icon: at(icon), small: at(small), regular: at(regular) }
  return { ...embed, cover_image, card_image: { ...embed.card_image, url } }
}

/** Returns the number of tracks in a share. Stored counts are used, because a list may be long. */
export async function storedTrackCount({ db }: Context, { scope, resource_id }: ShareRow): Promise<number> {
  const list = `tracks:${resource_id}`
  const row = await db.get<{ count: number | null }>(
    scope === 'playlist'
      ? sql`select track_count as count from playlists where id = ${resource_id}`
      : sql`select sum(iif(list = ${list}, count, -count)) as count from list_counts
          where list in (${list}, ${`${list}?status=failed`}, ${`${list}?status=initializing`}) and level = 0 and bucket = 0`,
  )
  return row?.count ?? 0
}
