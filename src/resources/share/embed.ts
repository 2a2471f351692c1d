import { mediaUrls } from '../../adapters/bucket/media_url.ts'
import type { EmbedRow } from '../../adapters/db/play/embed_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { PLAYBACK_TTL } from '../../contract/facts.ts'
import type { Episode } from '../../contract/feed.ts'
import type { CoverImage } from '../../contract/media.ts'
import type { PlayScope } from '../../contract/play.ts'
import { notFound } from '../../core/errors.ts'
import { checkExpiry } from '../../core/time.ts'
import { effectiveCover, labelsOf } from '../library/appearance.ts'
import { coverDesign, coverImage, hueOf, tintOf, coverOrFirst, largeCover } from '../library/cover_image.ts'

/** The facts about an episode for its page. `created_at` is the time of its publication if it has no other. */
interface ShownFacts extends Episode {
  created_at: number
}

/** The data of a page that embeds a play session. */
export interface Embed {
  scope: PlayScope
  resource_id: string
  title: string
  subtitle: string
  cover_image: CoverImage
  /** The largest available square of the cover. */
  card_image: { url: string; width: number; height: number }
  /** Where this square is stored; null for a generated cover. */
  card_path: string | null
  /** The design of the generated cover; null if the cover was uploaded. */
  design: string | null
  /** A color of the cover in CSS, for the ground of a page. */
  tint: string
  /** Facts about a single track that is an episode of a podcast; null for all else. */
  episode: ShownFacts | null
  /** The name of the organization. */
  maker: string
  /** The sites that may show a signed session in a frame; null for all. */
  allowed_origins: string[] | null
  /** Seconds until the session expires or, if this is earlier, the links to its cover. */
  seconds_left: number
}

/** Returns the embed data of a session, or of a share that is shown as one. */
export async function toEmbed({ env, now, base_url }: Context<Client>, row: EmbedRow | undefined): Promise<Embed> {
  const session = checkExpiry('play session', row?.session ?? undefined, now)
  const { track, playlist, organization } = row ?? {}
  const collection = row?.collection && coverOrFirst(row.collection, row.collection.first)
  const list = session.scope === 'playlist' ? playlist : collection
  if (!organization || !list || (session.scope === 'track' && !track)) throw notFound('play session')
  const levels = track && collection && { organization, collection, playlist: null, track }
  const { player_title: title, player_subtitle } = levels
    ? labelsOf(levels)
    : { player_title: list.title, player_subtitle: list.player_subtitle ?? organization.player_subtitle }
  const shown = levels ? effectiveCover(levels) : list
  const { cover_path, cover_size = null } = shown
  const heard = levels ? track : (playlist ?? row?.collection?.first)
  const design = cover_path === null ? coverDesign(title, heard?.levels, list.title) : null
  const cover = { cover_path, cover_size, design }
  const mediaUrl = await mediaUrls(env, now, session.expires_at)
  const cover_image = await coverImage(base_url, cover, mediaUrl)
  const seconds_left = Math.min(PLAYBACK_TTL, Math.floor((session.expires_at - now) / 1000))
  return {
    scope: session.scope,
    resource_id: session.resource_id,
    title,
    subtitle: player_subtitle ?? '',
    cover_image,
    card_image: (await largeCover(base_url, cover, mediaUrl)) ?? cover_image.regular,
    card_path: cover_path && `${cover_path}/${cover_size === null ? 'regular' : 'large'}.jpg`,
    design,
    tint:
      [list.theme[0], design === null ? shown.cover_colors?.[0]?.hex : null].find(isColorful) ??
      tintOf(hueOf(list.title)),
    episode: session.scope === 'track' && track?.episode ? { ...track.episode, created_at: track.created_at } : null,
    maker: organization.name,
    allowed_origins: session.allowed_origins,
    seconds_left,
  }
}

/** Difference of the largest and the smallest channel, 0 to 255, below which a color is a gray: its hue is accidental. */
const GRAY = 20

/** Whether the ground of a page can be tinted with a color. */
function isColorful(hex: string | null | undefined): hex is string {
  const channels = hex?.match(/[0-9a-f]{2}/gi)?.map((channel) => Number.parseInt(channel, 16)) ?? []
  return Math.max(...channels) - Math.min(...channels) >= GRAY
}
