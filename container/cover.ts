import { extractColorsFromImageData } from 'extract-colors'
import sharp, { type OutputInfo } from 'sharp'

import type { ImageColor } from '../src/contract/color.ts'
import { type CoverOutputs, type CoverResult, MAX_COVER_PIXELS } from '../src/contract/job.ts'
import { Fault } from './fault.ts'
import { MAX_IMAGE_BYTES } from './picture.ts'
import { upload } from './upload.ts'

/** Edge lengths in pixels (specification §2, Cover image). */
const SIZES = { regular: 400, small: 200, icon: 80 } as const

sharp.concurrency(1)
sharp.cache(false)

/** Cuts the three squares of a cover, uploads them and answers the palette. */
export async function makeCover(image: Buffer, outputs: CoverOutputs, signal: AbortSignal): Promise<CoverResult> {
  const square = await squareOf(image)
  const names = Object.keys(SIZES) as (keyof typeof SIZES)[]
  await Promise.all(
    names.map(async (name) => {
      const jpeg = await fromRaw(square).resize(SIZES[name]).jpeg({ quality: 82 }).toBuffer()
      await upload({ body: new Uint8Array(jpeg), url: outputs[name], contentType: 'image/jpeg', signal })
    }),
  )
  return { image_colors: await palette(square) }
}

type Raw = { data: Buffer; info: OutputInfo }

/** The largest square as raw sRGB: upright, on white, first frame only. */
async function squareOf(image: Buffer): Promise<Raw> {
  if (image.length > MAX_IMAGE_BYTES) throw new Fault('image_too_large', 'The image is larger than 10 MB.')
  // SVG and the rest must never reach their decoders.
  if (!isImage(image)) throw new Fault('unsupported_image', 'The image must be JPEG, PNG, WebP, GIF or AVIF.')
  try {
    const picture = sharp(image, { limitInputPixels: MAX_COVER_PIXELS, failOn: 'error', pages: 1 })
    const { width, height } = await picture.metadata()
    if (width * height > MAX_COVER_PIXELS) throw new Fault('image_too_large', 'The image has more than 40 megapixels.')
    return await picture
      .autoOrient()
      .flatten({ background: '#fff' })
      .resize(SIZES.regular, SIZES.regular, { fit: 'cover' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (error) {
    if (error instanceof Fault) throw error
    if (String(error).includes('pixel limit'))
      throw new Fault('image_too_large', 'The image has more than 40 megapixels.')
    throw new Fault('unsupported_image', 'The image is damaged.')
  }
}

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

function isImage(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 16)
  return /^(\xff\xd8\xff|\x89PNG|GIF8[79]a|RIFF.{4}WEBP|.{4}ftypavi[fs])/s.test(head)
}

// Down, so that the areas never add up to more than 1.
function floor(value: number): number {
  return Math.floor(value * 1000) / 1000
}
