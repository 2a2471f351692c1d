import * as z from 'zod'

import { named, Timestamp } from './common.ts'
import type { CoverSize } from './facts.ts'

/** The method and URL for an upload (specification §2, UploadHandle). Audio is sent as the body of a `PUT`, a cover with `POST`. */
export const UploadHandle = named('UploadHandle', {
  method: z.enum(['PUT', 'POST']),
  upload_url: z.url(),
  /** Seconds for which the URL is valid. */
  ttl: z.int(),
  expires_at: Timestamp,
})
export type UploadHandle = z.infer<typeof UploadHandle>

const square = <const T extends CoverSize | 'large'>(type: T) =>
  z.object({ type: z.literal(type), width: z.int(), height: z.int(), url: z.url() })

/**
 * A cover in a play view. If the resource neither has nor inherits a cover, the URLs return a PNG that is generated from its title and its waveform.
 * With `.svg` instead of `.png`, they return the same as SVG.
 */
export const CoverImage = named('CoverImage', {
  icon: square('icon'),
  small: square('small'),
  regular: square('regular'),
})
export type CoverImage = z.infer<typeof CoverImage>

/**
 * A cover as its owner gets it. In addition to the sizes for listeners, it has a large square image with at most 1,400 pixels per side, for feeds and
 * cards.
 */
export const OwnCover = CoverImage.extend({
  /** Null if the uploaded cover has at most 400 pixels per side. */
  large: square('large').nullable(),
}).meta({ id: 'OwnCover' })
export type OwnCover = z.infer<typeof OwnCover>
