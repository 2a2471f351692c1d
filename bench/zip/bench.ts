import { parseArgs } from 'node:util'

import { makeZip, predictLength } from 'client-zip'

const HELP = `npm run bench -- zip [options]

Streams a ZIP of a file of zeros and a short file, and discards it. Checks the predicted length and the records that a ZIP of more than 4 GB
needs (APPNOTE 4.3.14, 4.5.3), and measures the speed.

  --bytes 4300000000   size of the first file`

const options = {
  bytes: { type: 'string', default: '4300000000' },
  help: { type: 'boolean', default: false },
} as const

/** Storage returns data in chunks of this size. */
const CHUNK = new Uint8Array(65_536)

function zeros(bytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytesLeft = bytes
  return new ReadableStream({
    pull(controller) {
      if (bytesLeft === 0) return controller.close()
      const chunk = CHUNK.subarray(0, Math.min(bytesLeft, CHUNK.length))
      bytesLeft -= chunk.length
      controller.enqueue(chunk)
    },
  })
}

/** Returns the offset of the last file, as stated by the central directory. `end` is the end of a ZIP. */
function lastOffset(end: Buffer, length: number): number {
  const locator = end.indexOf('PK\x06\x07', end.length - 42, 'latin1')
  if (locator < 0) return 0
  const record = Number(end.readBigUInt64LE(locator + 8)) - (length - end.length)
  const directory = Number(end.readBigUInt64LE(record + 48)) - (length - end.length)
  if (end.readUInt32LE(record) !== 0x06064b50 || end.readBigUInt64LE(record + 32) !== 2n) return 0
  // The first entry consists of a header with a fixed size, a name and extra fields.
  const [name, extra] = [end.readUInt16LE(directory + 28), end.readUInt16LE(directory + 30)]
  const second = directory + 46 + name + extra
  const extraField = second + 46 + end.readUInt16LE(second + 28)
  return end.readUInt16LE(extraField) === 1 ? Number(end.readBigUInt64LE(extraField + 4)) : 0
}

export const zip = {
  about: 'a ZIP of more than 4 GB',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const bytes = Number(values.bytes)
    if (!(bytes > 0xffffffff)) throw new Error('--bytes must be more than 4294967295')
    const files = [
      { name: 'zeros', size: bytes, input: zeros(bytes), lastModified: new Date() },
      { name: 'end', size: 3, input: 'end', lastModified: new Date() },
    ]
    const predicted = Number(predictLength(files.map(({ name, size }) => ({ name, size }))))
    const startedAt = performance.now()
    let length = 0
    let end = Buffer.alloc(0)
    for await (const chunk of makeZip(files)) {
      length += chunk.length
      end = Buffer.concat([end.subarray(-1000), chunk.subarray(-1000)])
    }
    const seconds = (performance.now() - startedAt) / 1000
    // The first file has a local header, a name, its contents, and a data descriptor, which has 24 bytes for a large file.
    const expected = 30 + 'zeros'.length + bytes + 24
    const isValid = length === predicted && lastOffset(end, length) === expected
    console.log(
      `${length} bytes, ${predicted} predicted; the second file at ${lastOffset(end, length)}, expected ${expected}`,
    )
    console.log(`${seconds.toFixed(1)} s, ${Math.round(bytes / seconds / 1e6)} MB/s`)
    if (!isValid) process.exitCode = 1
  },
}
