import type { Client } from '../../adapters/db/query.ts'
import type { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import type { Context } from '../../context.ts'
import { CODECS } from '../../contract/facts.ts'
import type { Variant } from '../../contract/variant.ts'

/**
 * A track's first file, while no other file of the track exists: either a variant in its final form or, as `early`, a copy of the source's audio
 * stream.
 */
export interface EarlyFile {
  index: string
  bitrate: number
}
type Session = Pick<typeof playSessions.$inferSelect, 'organization_id' | 'variants'>
type VariantQuality = Pick<Variant, 'index' | 'type' | 'codec' | 'channels' | 'bitrate'>

/**
 * Returns the maximum bitrate in kbit/s at which a variant provides the full length of a track in stereo: −1 if it never does, unlimited for FLAC and
 * the uploaded file.
 */
function quality({ type, codec, channels, bitrate }: VariantQuality): number {
  if (type === 'original') return Infinity
  if (type !== 'transcode' || channels === 1) return -1
  return codec && CODECS[codec].lossless ? Infinity : bitrate
}

/** Returns the maximum bitrate in kbit/s that a session may play. */
export async function bestQuality({ db }: Context<Client>, { organization_id, variants }: Session): Promise<number> {
  const { CATALOG } = await import('../../contract/catalog.ts')
  const best = (variantList: readonly VariantQuality[]) =>
    Math.max(-1, ...variantList.filter(({ index }) => variants.includes(index)).map(quality))
  const bestOfCatalogue = best(CATALOG)
  // The organization's variants are only read if one of the names is not in the catalogue.
  const isCatalogueOnly = variants.every((name) => CATALOG.some(({ index }) => index === name))
  if (isCatalogueOnly || bestOfCatalogue === Infinity) return bestOfCatalogue
  const { openDatabase } = await import('../../adapters/db/database.ts')
  const { findCustomVariants } = await import('../../domain/transcode/variants.ts')
  return Math.max(bestOfCatalogue, best(await findCustomVariants(openDatabase(db.$client), organization_id)))
}

/**
 * Whether a session may play an early file. If the file is the source's own stream, its bitrate must not exceed that of the session's best variant.
 */
export const allowsEarly = ({ variants }: Session, { index, bitrate }: EarlyFile, best: number): boolean =>
  index === 'early' ? best >= bitrate : variants.includes(index)
