import { readFileSync } from 'node:fs'

import { extractColorsFromImageData } from 'extract-colors'
import sharp, { type OutputInfo } from 'sharp'

import type { ImageColor } from '../../src/contract/color.ts'
import { COVER_SIZES, type CoverSize, LARGE_COVER, MAX_COVER_PIXELS } from '../../src/contract/facts.ts'
import type { DecoderAnswer } from './cover_decoder.ts'

/**
 * A program that decodes one picture, because image decoders read untrusted files (docs/decisions/0017). It reads the picture from stdin, and writes the
 * squares of a cover with its palette, or the reason for a rejection, to stdout (`DecoderAnswer`).
 */

sharp.concurrency(1)
sharp.cache(false)

type DecodedCover = Exclude<DecoderAnswer, { failure: unknown }>

class Unusable extends Error {
  readonly failure: 'too_many_pixels' | 'damaged'

  constructor(failure: Unusable['failure']) {
    super(failure)
    this.failure = failure
  }
}

/**
 * Crops a picture and resizes it to the three squares of a cover. Adds a large square if the picture has more pixels than the three need.
 */
async function cutCover(image: Buffer): Promise<DecodedCover> {
  const square = await squareOf(image)
  const edge = square.info.width
  const jpeg = async (size: number) => {
    const file = await fromRaw(square).resize(size).jpeg({ quality: 82 }).toBuffer()
    return file.toString('base64')
  }
  const names = Object.keys(COVER_SIZES) as CoverSize[]
  const entries = await Promise.all(names.map(async (name) => [name, await jpeg(COVER_SIZES[name])] as const))
  return {
    squares: Object.fromEntries(entries) as DecodedCover['squares'],
    image_colors: await palette(square),
    ...(edge > COVER_SIZES.regular && { large: edge, largeSquare: await jpeg(edge) }),
  }
}

type Raw = { data: Buffer; info: OutputInfo }

/**
 * Crops a picture to its largest possible square, as raw sRGB. Rotates it upright, replaces transparency with white, and uses only the
 * first frame.
 */
async function squareOf(image: Buffer): Promise<Raw> {
  try {
    const picture = sharp(image, { limitInputPixels: MAX_COVER_PIXELS, failOn: 'error', pages: 1 })
    const { width, height } = await picture.metadata()
    if (width * height > MAX_COVER_PIXELS) throw new Unusable('too_many_pixels')
    const edge = Math.max(COVER_SIZES.regular, Math.min(width, height, LARGE_COVER))
    return await picture
      .autoOrient()
      .flatten({ background: '#fff' })
      .resize(edge, edge, { fit: 'cover' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (error) {
    if (error instanceof Unusable) throw error
    throw new Unusable(String(error).includes('pixel limit') ? 'too_many_pixels' : 'damaged')
  }
}

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

const answer = await cutCover(readFileSync(0)).catch((error: unknown): DecoderAnswer => {
  if (error instanceof Unusable) return { failure: error.failure }
  throw error
})
process.stdout.write(JSON.stringify(answer))
