import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import * as z from 'zod'

import { COVER_SIZES, type CoverSize, isCover, MAX_COVER_BYTES, MAX_COVER_PIXELS } from '../../src/contract/facts.ts'
import { CoverResult } from '../../src/contract/job.ts'
import { JobError } from '../job_error.ts'
import { log } from '../log.ts'
import { confineProgram } from '../process/confine.ts'
import { NODE_FLAGS } from '../process/node_flags.ts'
import { type Exit, type Program, run } from '../process/run.ts'

/**
 * Decodes each picture in a process that is confined like ffmpeg (docs/decisions/0017). The process, `decode_cover.ts`, gets the picture from stdin and
 * returns the squares on stdout, so it needs no files except Node, sharp and its own code.
 */

const Jpeg = z.string().transform((text) => Buffer.from(text, 'base64'))

/** The squares of a cover as JPEG files, with its palette. The process writes the files in Base64. */
const Cover = CoverResult.extend({
  squares: z.record(z.enum(Object.keys(COVER_SIZES) as CoverSize[]), Jpeg),
  /** The additional square, `large` pixels wide. */
  largeSquare: Jpeg.optional(),
})
export type Cover = z.output<typeof Cover>

const Answer = z.union([Cover, z.object({ failure: z.enum(['too_many_pixels', 'damaged']) })])
/** The output of the process as JSON. */
export type DecoderAnswer = z.input<typeof Answer>

/** Returns the squares and the palette of a picture. Throws `image_too_large` or `unsupported_image` if the picture cannot be used. */
export type DecodeCover = (image: Buffer, signal: AbortSignal) => Promise<Cover>

/** Wall-clock seconds for one picture. Pictures of 40 megapixels take two seconds of CPU time. */
const TIMEOUT_SECONDS = 120
/** Maximum bytes of an answer, which usually has a tenth of it. */
const ANSWER_LIMIT = 20_000_000

/** The packages that the process loads from `node_modules`. The Dockerfile copies them into the image. */
const PACKAGES = ['sharp', '@img', 'detect-libc', 'semver']

/** The smallest GIF: one white pixel. */
const PIXEL = Buffer.from(
  '47494638396101000100800000ffffffffffff21f90400000000002c00000000010001000002024401003b',
  'hex',
)

/**
 * Returns the function that decodes pictures with the bundled `program`. Throws if sharp is not installed. The first picture tests which layers work on this
 * machine.
 */
export function createCoverDecoder(program: string): DecodeCover {
  const modules = join(dirname(fileURLToPath(import.meta.resolve('sharp'))), '../..')
  const packages = PACKAGES.map((name) => join(modules, name))
  const readable = [dirname(realpathSync(process.execPath)), dirname(program), ...packages]
  // Without the first flag, Node reads the OpenSSL configuration of the machine, and exits if it may not.
  const node = [process.execPath, '--openssl-config=/dev/null', ...NODE_FLAGS, program]
  const findCommand = async () => {
    const { launch, layers } = await confineProgram({ writable: null, readable }, async (trial) => {
      const exit = await decode([...trial, ...node], PIXEL).catch(() => null)
      return exit?.code === 0
    })
    log('covers_confined', { confined: layers })
    return [...launch, ...node]
  }
  let command: Promise<Program> | undefined
  return async (image, signal) => {
    rejectUnknown(image)
    command ??= findCommand()
    const exit = await decode(await command, image, signal)
    signal.throwIfAborted()
    return coverOf(exit)
  }
}

function rejectUnknown(image: Buffer): void {
  if (image.length > MAX_COVER_BYTES)
    throw new JobError('image_too_large', `The image is larger than ${MAX_COVER_BYTES / 1e6} MB.`)
  // SVG and other formats must never reach a decoder.
  if (!isCover(image)) throw new JobError('unsupported_image', 'The image must be JPEG, PNG, WebP, GIF or AVIF.')
}

const decode = (command: Program, image: Buffer, signal?: AbortSignal) =>
  run(command, [], {
    stdin: image,
    stdoutLimit: ANSWER_LIMIT,
    timeoutSeconds: TIMEOUT_SECONDS,
    ...(signal && { signal }),
  })

function coverOf({ code, signal, timedOut, stdout, stderr }: Exit): Cover {
  if (timedOut) throw new JobError('unsupported_image', 'The image takes too long to decode.')
  // A decoder crashed.
  if (signal) throw damaged()
  const answer = code === 0 ? Answer.safeParse(parseJson(stdout)) : null
  if (!answer?.success) {
    // The process knows no URLs and no secrets.
    log('cover_decoder_failed', { code, detail: stderr.slice(0, 500) })
    throw new JobError('internal', 'The transcoder failed.', true)
  }
  if (!('failure' in answer.data)) return answer.data
  if (answer.data.failure === 'damaged') throw damaged()
  throw new JobError('image_too_large', `The image has more than ${MAX_COVER_PIXELS / 1e6} megapixels.`)
}

const damaged = () => new JobError('unsupported_image', 'The image is damaged.')

function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return null
  }
}
