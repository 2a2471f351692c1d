import { extractColorsFromImageData } from 'extract-colors'
import sharp, { type OutputInfo } from 'sharp'

import type { ImageColor } from '../../src/contract/color.ts'
import {
  COVER_SIZES,
  type CoverSize,
  isCover,
  LARGE_COVER,
  MAX_COVER_BYTES,
  MAX_COVER_PIXELS,
} from '../../src/contract/facts.ts'
import type { CoverOutputs, CoverResult } from '../../src/contract/job.ts'
import { failpoint } from '../failpoint.ts'
import { JobError } from '../job_error.ts'
import { upload } from '../transfer/upload.ts'

sharp.concurrency(1)
sharp.cache(false)

/** The squares of a cover as JPEG files, with its palette. */
export type Cover = CoverResult & {
  squares: Record<CoverSize, Uint8Array>
  /** The additional square, `large` pixels wide. */
  largeSquare?: Uint8Array
}

/** Crops a picture to the squares of a cover, uploads them and returns the palette. */
export async function makeCover(image: Buffer, outputs: CoverOutputs, signal: AbortSignal): Promise<CoverResult> {
  return uploadCover(await cutCover(image), outputs, signal)
}

/**
 * Crops a picture and resizes it to the three squares of a cover. Adds a large square if the picture has more pixels than the three need.
 */
export async function cutCover(image: Buffer): Promise<Cover> {
  const square = await squareOf(image)
  const edge = square.info.width
  const jpeg = async (size: number) =>
    new Uint8Array(await fromRaw(square).resize(size).jpeg({ quality: 82 }).toBuffer())
  const names = Object.keys(COVER_SIZES) as CoverSize[]
  const entries = await Promise.all(names.map(async (name) => [name, await jpeg(COVER_SIZES[name])] as const))
  return {
    squares: Object.fromEntries(entries) as Cover['squares'],
    image_colors: await palette(square),
    ...(edge > COVER_SIZES.regular && { large: edge, largeSquare: await jpeg(edge) }),
  }
}

/** Uploads the squares to their URLs. */
export async function uploadCover(cover: Cover, outputs: CoverOutputs, signal: AbortSignal): Promise<CoverResult> {
  const { squares, largeSquare, large, image_colors } = cover
  const put = (body: Uint8Array, url: string) => upload({ body, url, contentType: 'image/jpeg', signal })
  const names = Object.keys(COVER_SIZES) as CoverSize[]
  const hasLarge = largeSquare !== undefined && outputs.large !== undefined
  await Promise.all([
    ...names.map((name) => put(squares[name], outputs[name])),
    ...(hasLarge ? [put(largeSquare, outputs.large!)] : []),
  ])
  failpoint('cover_uploaded')
  return { image_colors, ...(hasLarge && { large }) }
}

type Raw = { data: Buffer; info: OutputInfo }

/**
 * Crops a picture to its largest possible square, as raw sRGB. Rotates it upright, replaces transparency with white, and uses only the
 * first frame.
 */
async function squareOf(image: Buffer): Promise<Raw> {
  if (image.length > MAX_COVER_BYTES)
    throw new JobError('image_too_large', `The image is larger than ${MAX_COVER_BYTES / 1e6} MB.`)
  // SVG and other formats must never reach a decoder.
  if (!isCover(image)) throw new JobError('unsupported_image', 'The image must be JPEG, PNG, WebP, GIF or AVIF.')
  try {
    const picture = sharp(image, { limitInputPixels: MAX_COVER_PIXELS, failOn: 'error', pages: 1 })
    const { width, height } = await picture.metadata()
    if (width * height > MAX_COVER_PIXELS) throw tooManyPixels()
    const edge = Math.max(COVER_SIZES.regular, Math.min(width, height, LARGE_COVER))
    return await picture
      .autoOrient()
      .flatten({ background: '#fff' })
      .resize(edge, edge, { fit: 'cover' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (error) {
    if (error instanceof JobError) throw error
    if (String(error).includes('pixel limit')) throw tooManyPixels()
    throw new JobError('unsupported_image', 'The image is damaged.')
  }
}

const tooManyPixels = () =>
  new JobError('image_too_large', `The image has more than ${MAX_COVER_PIXELS / 1e6} megapixels.`)

/** Returns at most six colors, the largest area first. `area` is a fraction of the whole picture. */
async function palette(square: Raw): Promise<ImageColor[]> {
  const { data, info } = await fromRaw(square).resize(128).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const image = { data: new Uint8ClampedArray(data), width: info.width, height: info.height }
  return extractColorsFromImageData(image, { pixels: info.width * info.height })
    .toSorted((a, b) => b.area - a.area)
    .slice(0, 6)
    .map(({ hex, area, lightness, saturation }) => ({
      hex: hex.toUpperCase(),
      area: floor(area),
      lightness: floor(lightness),
      saturation: floor(saturation),
    }))
}

function fromRaw({ data, info }: Raw) {
  const { width, height, channels } = info
  return sharp(data, { raw: { width, height, channels } }).toColourspace('srgb')
}

// Rounds down, so that the areas never add up to more than 1.
function floor(value: number): number {
  return Math.floor(value * 1000) / 1000
}
