import * as z from 'zod'

import { named, Timestamp } from './common.ts'
import type { CoverSize } from './facts.ts'

/** The request that uploads a file: audio as the body of a `PUT`, a cover with `POST` (docs/upload.md). */
export const UploadHandle = named('UploadHandle', {
  /** HTTP method of the upload: `PUT` for audio, `POST` for covers. */
  method: z.enum(['PUT', 'POST']),
  /** Signed URL to which the file is sent, without an API key. */
  upload_url: z.url(),
  /** Seconds for which the URL is valid. */
  ttl: z.int(),
  /** When the URL stops working. A new one can be requested. */
  expires_at: Timestamp,
})
export type UploadHandle = z.infer<typeof UploadHandle>

const square = <const T extends CoverSize | 'large'>(type: T) =>
  z.object({
    /** The name of the size, as in the key. */
    type: z.literal(type),
    /** Pixels from left to right. */
    width: z.int(),
    /** Pixels from top to bottom; the image is square. */
    height: z.int(),
    /** Signed URL that expires, so request a new one instead of storing it. */
    url: z.url(),
  })

/**
 * A cover in its sizes for players. If the resource neither has nor inherits a cover, the URLs return a PNG that is generated from its title and
 * its waveform; with `.svg` instead of `.png`, they return the same as SVG.
 */
export const CoverImage = named('CoverImage', {
  /** 80 × 80 pixels. */
  icon: square('icon'),
  /** 200 × 200 pixels. */
  small: square('small'),
  /** 400 × 400 pixels. */
  regular: square('regular'),
})
export type CoverImage = z.infer<typeof CoverImage>

/** A square image for lock screens, feeds and cards, with at most 1,400 pixels per side. */
export const LargeCover = square('large').meta({ id: 'LargeCover' })
export type LargeCover = z.infer<typeof LargeCover>

/** A cover as its owner gets it, with the large square image. */
export const OwnCover = CoverImage.extend({
  /** Null if the uploaded cover has at most 400 pixels per side. */
  large: LargeCover.nullable(),
}).meta({ id: 'OwnCover' })
export type OwnCover = z.infer<typeof OwnCover>

/** The upload to the newest upload URL of a track. Sizes are in bytes. */
export const UploadState = named('UploadState', {
  /** Bytes of the file that arrived last; null while one is expected, and after processing unless an upload session created the track. */
  received_size: z.int().nullable(),
  /** The `file_size` of the request for the URL; null if the request had none, or if nothing is expected. */
  expected_size: z.int().nullable(),
  /** When the newest upload URL stops working. */
  expires_at: Timestamp,
  /** Instructions for a caller whose file has not arrived; null if nothing is expected. */
  hint: z.string().nullable(),
})
