import { embedRows } from '../../adapters/db/play/embed_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { type FoundShare, shareRows } from '../../adapters/db/share_rows.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { type Embed, toEmbed } from './embed.ts'

export type { ShareRow }

export const isExpired = ({ expires_at }: ShareRow, now: number) => expires_at !== null && expires_at <= now

/** Returns the share in a row for a visitor. Throws 404 for an unknown slug, and 410 when the share was revoked or has expired. */
export function toShare(found: FoundShare | undefined, now: number): ShareRow {
  const { share, retired } = found ?? {}
  if (!share) throw retired ? new ApiError('share_revoked', 'This share was revoked') : notFound('share')
  if (isExpired(share, now)) throw new ApiError('session_expired', 'This share has ended')
  return share
}

/** Reads the share with this slug for a visitor, like `toShare`. */
export const openShare = async ({ db, now }: Context<Client>, slug: string): Promise<ShareRow> =>
  toShare(await shareRows.get(db, { slug }), now)

/** Returns a share and its embed data for a link preview. Throws 404 for a share with a password, because its page asks for the password first. */
export async function linkPreview(context: Context<Client>, slug: string) {
  const share = await openShare(context, slug)
  if (share.password_hash !== null) throw notFound('share')
  const embed = await toEmbed(context, await embedRows.shares.get(context.db, { slug, password_hash: null }))
  return { share, embed: withTitle(embed, share) }
}

/** Returns the embed data of a share, whose own title is preferred. */
export const withTitle = (embed: Embed, { title }: ShareRow): Embed => ({ ...embed, title: title ?? embed.title })

/** Returns embed data with image URLs that stay valid as long as the share. */
export function withLastingPictures(embed: Embed, address: string): Embed {
  if (embed.design !== null) return embed
  const url = `${address}/cover.jpg`
  const { icon, small, regular } = embed.cover_image
  const at = <T extends { type: string }>(square: T) => ({ ...square, url: `${url}?size=${square.type}` })
  const cover_image = { icon: at(icon), small: at(small), regular: at(regular) }
  return { ...embed, cover_image, card_image: { ...embed.card_image, url } }
}

/** Returns the number of tracks in a share. Stored counts are used, because a list may be long. */
export async function storedTrackCount({ db }: Context<Client>, { scope, resource_id }: ShareRow): Promise<number> {
  const list = `tracks:${resource_id}`
  const { $client } = db
  const statement =
    scope === 'playlist'
      ? $client.prepare('select track_count as count from playlists where id = ?').bind(resource_id)
      : $client
          .prepare(
            `select sum(iif(list = ?1, count, -count)) as count from list_counts
              where list in (?1, ?1 || '?status=failed', ?1 || '?status=initializing') and level = 0 and bucket = 0`,
          )
          .bind(list)
  return (await statement.first<number | null>('count')) ?? 0
}
