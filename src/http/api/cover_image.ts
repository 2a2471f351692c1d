import { make } from 'multipasta'

import { isCover, MAX_COVER_BYTES } from '../../contract/facts.ts'
import { ApiError } from '../../core/errors.ts'

/** Maximum bytes of a request: an image, plus 100,000 bytes for the multipart framing. */
const MAX_REQUEST_BYTES = MAX_COVER_BYTES + 100_000
/** Bytes that are sufficient to recognize an image. */
const HEAD_BYTES = 16

type Chunks = AsyncGenerator<Uint8Array, void>

const imageTooLarge = () => new ApiError('image_too_large', `A cover must be at most ${MAX_COVER_BYTES} bytes`)
const notWhole = () => new ApiError('invalid_request', 'The image has not arrived whole')
const noFile = () =>
  new ApiError('invalid_request', 'Send the image as the multipart field "file"', {
    errors: [{ path: 'file', message: 'is missing' }],
  })

/** The size of a request according to its headers, in bytes; undefined if it has none. */
export function announcedSize({ headers }: Request): number | undefined {
  const length = headers.get('content-length')
  return length === null ? undefined : Number(length)
}

/**
 * Yields an uploaded image as it arrives: the field `file` of a form, or the body itself. Throws an `ApiError` as soon as the image turns out to be
 * too large, incomplete, or not an image.
 */
export function coverImage(request: Request): Chunks {
  const type = request.headers.get('content-type') ?? ''
  const body = bodyOf(request)
  return checked(/^multipart\/form-data/i.test(type) ? fileOf(body, type) : body)
}

async function* bodyOf(request: Request): Chunks {
  let size = 0
  try {
    if ((announcedSize(request) ?? 0) > MAX_REQUEST_BYTES) throw imageTooLarge()
    for await (const chunk of (request.body as ReadableStream<Uint8Array> | null) ?? []) {
      size += chunk.length
      if (size > MAX_REQUEST_BYTES) throw imageTooLarge()
      yield chunk
    }
  } catch (error) {
    // Reading fails when the client disconnects. This is not an error of the service, and no client receives the response.
    throw error instanceof ApiError ? error : notWhole()
  }
}

/** Yields the first file in the field `file` of a form. Other fields are ignored. */
async function* fileOf(body: Chunks, contentType: string): Chunks {
  let isFound = false
  let isWhole = false
  let isFaulty = false
  const arrived: Uint8Array[] = []
  const ignore = () => undefined
  const parser = make({
    headers: { 'content-type': contentType },
    onFile({ name }) {
      if (isFound || name !== 'file') return ignore
      isFound = true
      return (chunk) => {
        if (chunk) arrived.push(chunk)
        else isWhole = true
      }
    },
    onField: ignore,
    onError: () => void (isFaulty = true),
    onDone: ignore,
  })
  for await (const chunk of body) {
    // The rest of the form is read, but not parsed: the parser reports an error if the end of the form arrives in two chunks.
    if (isWhole) continue
    try {
      parser.write(chunk)
    } catch {
      // The parser throws if the name of a file is encoded wrongly.
      isFaulty = true
    }
    if (isFaulty && !isWhole) throw noFile()
    yield* arrived.splice(0)
  }
  parser.end()
  yield* arrived
  if (!isFound) throw noFile()
  if (!isWhole) throw notWhole()
}

/**
 * Checks the size of an image, and its first bytes, which are yielded together. The transcoder checks the type again and decodes the image.
 */
async function* checked(image: Chunks): Chunks {
  let head: Uint8Array | null = new Uint8Array()
  let size = 0
  const accept = (start: Uint8Array) => {
    if (!isCover(start)) throw new ApiError('unsupported_image', 'A cover must be a JPEG, PNG, WebP, GIF or AVIF image')
    head = null
    return start
  }
  for await (const chunk of image) {
    size += chunk.length
    if (size > MAX_COVER_BYTES) throw imageTooLarge()
    if (!head) yield chunk
    else {
      const start: Uint8Array = new Uint8Array(head.length + chunk.length)
      start.set(head)
      start.set(chunk, head.length)
      if (start.length < HEAD_BYTES) head = start
      else yield accept(start)
    }
  }
  if (head) yield accept(head)
}
