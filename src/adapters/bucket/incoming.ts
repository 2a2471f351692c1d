/** Bytes that an upload keeps in memory. R2 accepts no smaller part, except the last. */
const PART_BYTES = 5 * 1024 * 1024

/** An upload that has arrived, but is not an object yet. */
export interface Incoming {
  /** Size in bytes. */
  size: number
  /** Writes the object. */
  store: () => Promise<unknown>
  /** Deletes what has arrived. */
  discard: () => Promise<unknown>
}

/**
 * Receives the bytes of an object, of which at most five megabytes are in memory: R2 keeps the others as parts, which it deletes after a week if they
 * are never joined. `most` is the maximum number of bytes, if it is known. Rethrows the errors of `chunks`.
 */
export async function receive(
  env: Env,
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  most = PART_BYTES,
): Promise<Incoming> {
  const buffer = new Uint8Array(Math.min(most || PART_BYTES, PART_BYTES))
  const parts: R2UploadedPart[] = []
  let upload: R2MultipartUpload | undefined
  let filled = 0
  let size = 0
  const discard = async () => upload?.abort()
  async function sendPart(): Promise<void> {
    upload ??= await env.MEDIA.createMultipartUpload(path)
    parts.push(await upload.uploadPart(parts.length + 1, buffer.subarray(0, filled)))
    filled = 0
  }
  try {
    for await (const chunk of chunks) {
      size += chunk.length
      for (let copied = 0; copied < chunk.length;) {
        if (filled === buffer.length) await sendPart()
        const piece = chunk.subarray(copied, copied + buffer.length - filled)
        buffer.set(piece, filled)
        filled += piece.length
        copied += piece.length
      }
    }
    if (upload) await sendPart()
  } catch (error) {
    await discard().catch(() => undefined)
    throw error
  }
  return {
    size,
    store: () => upload?.complete(parts) ?? env.MEDIA.put(path, buffer.subarray(0, filled)),
    discard,
  }
}
