import * as z from 'zod'

import { named, Timestamp } from './common.ts'
import type { CoverSize } from './facts.ts'

/** Where and how to upload a file (specification §2, UploadHandle). Audio: `PUT` the bytes. Covers: `POST` the image. */
export const UploadHandle = named('UploadHandle', {
  method: z.enum(['PUT', 'POST']),
  upload_url: z.url(),
  /** Seconds the URL stays valid. */
  ttl: z.int(),
  expires_at: Timestamp,
})
export type UploadHandle = z.infer<typeof UploadHandle>

const square = <const T extends CoverSize | 'large'>(type: T) =>
  z.object({ type: z.literal(type), width: z.int(), height: z.int(), url: z.url() })

/** A cover in a play view. If no cover is set or inherited, the URLs lead to a neutral picture. */
export const CoverImage = named('CoverImage', {
  icon: square('icon'),
  small: square('small'),
  regular: square('regular'),
})
export type CoverImage = z.infer<typeof CoverImage>

/** A cover for its owners: includes the large square, of up to 1,400 pixels, for feeds and cards. */
export const OwnCover = CoverImage.extend({
  /** Null without a cover, or when the cover has at most 400 pixels. */
  large: square('large').nullable(),
}).meta({ id: 'OwnCover' })
export type OwnCover = z.infer<typeof OwnCover>
