import type { playSessions } from '../adapters/play_sessions.ts'
import type { Client } from '../adapters/statement.ts'
import type { Context } from '../context.ts'
import { CATALOGUE } from '../contract/catalogue.ts'
import { CODECS } from '../contract/facts.ts'
import type { Variant } from '../contract/variant.ts'

/** A track's first file, while it has no other: a variant in its final form, or as `early` the source's own stream. */
export interface EarlyFile {
  index: string
  bitrate: number
}
type Session = Pick<typeof playSessions.$inferSelect, 'organization_id' | 'variants'>
type Known = Pick<Variant, 'index' | 'type' | 'codec' | 'channels' | 'bitrate'>

/** Kbit/s that listeners of a variant hear at most, in full length and not mono; FLAC and the upload itself have no bound. */
function quality({ type, codec, channels, bitrate }: Known): number {
  if (type === 'original') return Infinity
  if (type !== 'transcode' || channels === 1) return -1
  return codec && CODECS[codec].lossless ? Infinity : bitrate
}

/** The most that a session may hear, in kbit/s. */
export async function bestQuality({ db }: Context<Client>, { organization_id, variants }: Session): Promise<number> {
  const best = (known: readonly Known[]) =>
    Math.max(-1, ...known.filter(({ index }) => variants.includes(index)).map(quality))
  const usual = best(CATALOGUE)
  // Only a name outside the catalogue is worth a look at the organization's own.
  const all = variants.every((name) => CATALOGUE.some(({ index }) => index === name))
  if (all || usual === Infinity) return usual
  const { openDatabase } = await import('../adapters/database.ts')
  const { ownVariants } = await import('../pipeline/transcode/variant_spec.ts')
  return Math.max(usual, best(await ownVariants(openDatabase(db.$client), organization_id)))
}

/** Whether a session may play an early file: the source's own stream must not be better than what the session was made for. */
export const allowsEarly = ({ variants }: Session, { index, bitrate }: EarlyFile, best: number): boolean =>
  index === 'early' ? best >= bitrate : variants.includes(index)
