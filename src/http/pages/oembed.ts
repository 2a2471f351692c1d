import type { Hono } from 'hono'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import {
  EMBED_HEIGHTS,
  EMBED_MIN_SQUARE,
  EMBED_MIN_WIDTH,
  EMBED_ROWS,
  EMBED_WIDTH,
  embedHeight,
} from '../../contract/embed.ts'
import { COVER_SIZES } from '../../contract/facts.ts'
import type { CoverImage } from '../../contract/media.ts'
import { PlaySessionId } from '../../contract/play.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { bindLists, readerOf } from '../../resources/play/session_reader.ts'
import { countTracks, findEmbed } from '../../resources/play/session_view.ts'
import { linkPreview, withLastingPictures } from '../../resources/share/share_view.ts'
import { countedPart, limitReading } from '../auth/limit_rate.ts'
import { baseUrl } from '../base_url.ts'
import { type AppEnv, contextOf } from '../context.ts'
import { readNearest } from '../listen/read_nearest.ts'
import { html } from './html.ts'
import { attributesOf, type AppearanceParameters, appearanceOf } from './page.ts'
import { slugOf } from './share.ts'

/** The play session or share that is embedded. */
interface Target {
  id?: string
  slug?: string
}

/** A position, a part or a track in the hash of a link (docs/share.md). */
const PLACE = /^#[\w=&:.,-]+$/

/** Parses the maximum width or height that the consumer accepts; `Infinity` if the request has none. */
function maximumOf(name: string, value: string | undefined): number {
  if (value === undefined) return Infinity
  if (!/^[1-9]\d{0,5}$/.test(value)) throw invalid(name, 'must be a whole number of pixels')
  return Number(value)
}

interface Address extends Target {
  appearance: AppearanceParameters
  /** The hash that the frame keeps. */
  place: string
}

/** Returns the play session or share that an embed's URL contains, and its appearance. Throws a 404 for any other URL (oEmbed §2.3.4). */
function parseAddress(url: string | undefined, base: string): Address {
  if (!url) throw invalid('url', 'is required')
  const address = URL.canParse(url) ? new URL(url) : null
  if (!address) throw notFound('embed')
  const shown = { appearance: appearanceOf(url), place: PLACE.test(address.hash) ? address.hash : '' }
  const path = address.origin + address.pathname
  const slug = slugOf(address, base)
  if (slug) return { ...shown, slug }
  const id = path.startsWith(`${base}/embed/`) ? PlaySessionId.safeParse(path.slice(`${base}/embed/`.length)) : null
  if (!id?.success) throw notFound('embed')
  return { ...shown, id: id.data }
}

/** Returns the embed for a URL, the URL of its frame, and the number of tracks that the frame lists. */
async function findTarget(context: Context<Client>, base: string, target: Target) {
  const { db } = context
  const found = await findFrame(context, base, target)
  const lists = target.id
    ? (await readerOf(context, target.id)).bindLists(db, EMBED_ROWS)
    : bindLists(db, { slug: target.slug!, password_hash: null }, EMBED_ROWS)
  return { ...found, rows: await countTracks(db, lists) }
}

async function findFrame(context: Context<Client>, base: string, { id, slug }: Target) {
  if (id) return { embed: await findEmbed(context, id), frame_url: `${base}/embed/${id}` }
  const { share, embed } = await linkPreview(context, slug ?? '')
  return { embed: withLastingPictures(embed, `${base}/s/${share.slug}`), frame_url: `${base}/embed/s/${share.slug}` }
}

/** Returns the fields for the largest square image that fits, or an empty object if none does. */
function thumbnail(cover: CoverImage, room: number) {
  const size = (['regular', 'small', 'icon'] as const).find((name) => COVER_SIZES[name] <= room)
  if (!size) return {}
  const { url, width, height } = cover[size]
  return { thumbnail_url: url, thumbnail_width: width, thumbnail_height: height }
}

/** `GET /oembed` describes how to embed a page of `/embed`, for sites that show previews of links (https://oembed.com, type `rich`). */
export function mountOembed(app: Hono<AppEnv>, cache: IsolateCache): void {
  app.get('/oembed', async (c) => {
    c.header('access-control-allow-origin', '*')
    const { url, format = 'json', maxwidth, maxheight } = c.req.query()
    if (format !== 'json') return c.text('Only format=json is served', 501)
    const base = baseUrl(c.env, c.req.url)
    const { appearance, place, ...target } = parseAddress(url, base)
    const room = { width: maximumOf('maxwidth', maxwidth), height: maximumOf('maxheight', maxheight) }
    const secret = target.id ? countedPart(target.id) : `share:${target.slug}`
    const { embed, frame_url, rows } = await limitReading(c, cache, secret, () =>
      readNearest(c.env, (client) => findTarget(contextOf(c, LISTENER, cache, client), base, target)),
    ).catch(asNotFound)
    const { title, subtitle, cover_image, seconds_left } = embed
    const full = embedHeight(embed.scope, rows)
    const tooSmall = room.height < full || room.width < EMBED_MIN_WIDTH
    const side = Math.min(EMBED_WIDTH, room.width, room.height)
    const isSquare = appearance.layout === 'cover' && side >= EMBED_MIN_SQUARE
    const compact = appearance.layout === 'compact' || (tooSmall && !isSquare)
    const width = isSquare ? side : Math.min(EMBED_WIDTH, room.width)
    const height = isSquare ? side : Math.min(compact ? EMBED_HEIGHTS.compact : full, room.height)
    const search = new URLSearchParams({ ...appearance, ...(compact && { layout: 'compact' }) })
    const src = `${frame_url}${search.size > 0 ? `?${search.toString()}` : ''}${place}`
    const frame = { src, title, width, height, frameborder: 0, allow: 'autoplay', loading: 'lazy' }
    return c.json({
      version: '1.0',
      type: 'rich',
      title,
      ...(subtitle && { author_name: subtitle }),
      provider_name: 'Tonearm',
      provider_url: base,
      cache_age: Math.min(seconds_left, 600),
      ...thumbnail(cover_image, Math.min(room.width, room.height)),
      html: html`<iframe${attributesOf(frame)}></iframe>`.html,
      width,
      height,
    })
  })
}

/** oEmbed has no 410, so an expired session returns 404, like an unknown session. */
function asNotFound(error: unknown): never {
  throw error instanceof ApiError && error.status === 410 ? notFound('embed') : error
}
