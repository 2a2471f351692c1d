import { extractColorsFromImageData } from 'extract-colors'
import sharp, { type OutputInfo } from 'sharp'

import type { ImageColor } from '../../src/contract/color.ts'
import { COVER_SIZES, type CoverSize, isCover, MAX_COVER_BYTES, MAX_COVER_PIXELS } from '../../src/contract/facts.ts'
import type { CoverOutputs, CoverResult } from '../../src/contract/job.ts'
import { failpoint } from '../failpoint.ts'
import { JobError } from '../job_error.ts'
import { upload } from '../transfer/upload.ts'

sharp.concurrency(1)
sharp.cache(false)

/** Cuts the three squares of a cover, uploads them and answers the palette. */
export async function makeCover(image: Buffer, outputs: CoverOutputs, signal: AbortSignal): Promise<CoverResult> {
  const square = await squareOf(image)
  const names = Object.keys(COVER_SIZES) as CoverSize[]
  await Promise.all(
    names.map(async (name) => {
      const jpeg = await fromRaw(square).resize(COVER_SIZES[name]).jpeg({ quality: 82 }).toBuffer()
      await upload({ body: new Uint8Array(jpeg), url: outputs[name], contentType: 'image/jpeg', signal })
    }),
  )
  failpoint('cover_uploaded')
  return { image_colors: await palette(square) }
}

type Raw = { data: Buffer; info: OutputInfo }

/** The largest square as raw sRGB: upright, on white, first frame only. */
async function squareOf(image: Buffer): Promise<Raw> {
  if (image.length > MAX_COVER_BYTES)
    throw new JobError('image_too_large', `The image is larger than ${MAX_COVER_BYTES / 1e6} MB.`)
  // SVG and the rest must never reach their decoders.
  if (!isCover(image)) throw new JobError('unsupported_image', 'The image must be JPEG, PNG, WebP, GIF or AVIF.')
  try {
    const picture = sharp(image, { limitInputPixels: MAX_COVER_PIXELS, failOn: 'error', pages: 1 })
    const { width, height } = await picture.metadata()
    if (width * height > MAX_COVER_PIXELS) throw tooManyPixels()
    return await picture
      .autoOrient()
      .flatten({ background: '#fff' })
      .resize(COVER_SIZES.regular, COVER_SIZES.regular, { fit: 'cover' })
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

/** At most six colors by area; `area` is a fraction of the whole picture. */
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

// Down, so that the areas never add up to more than 1.
function floor(value: number): number {
  return Math.floor(value * 1000) / 1000
}
