/** A file with some of its bytes replaced. */
export function withBytes(file: Buffer, at: number, bytes: number[]): Buffer {
  const changed = Buffer.from(file)
  changed.set(bytes, at)
  return changed
}

/** A file with `count` holes of zeros between its first and last tenth, at the same positions each time. */
export function zeroed(file: Buffer, count: number, length: number): Buffer {
  const damaged = Buffer.from(file)
  const step = (file.length * 0.8) / count
  for (let i = 0; i < count; i++) {
    const at = Math.floor(file.length * 0.1 + i * step)
    damaged.fill(0, at, at + length)
  }
  return damaged
}

/** Files one after the other. */
export function concatenate(...files: Buffer[]): Buffer {
  return Buffer.concat(files)
}

/** A WAV with an empty data chunk of length 0. */
export function emptyWav(wav: Buffer): Buffer {
  const at = wav.indexOf('data')
  const header = Buffer.from(wav.subarray(0, at + 8))
  header.writeUInt32LE(0, at + 4)
  header.writeUInt32LE(header.length - 8, 4)
  return header
}

/** An ID3v2.4 tag of `length` bytes of padding before a file (id3.org, ID3v2.4 §3.1). */
export function withId3(file: Buffer, length: number): Buffer {
  const header = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, ...[21, 14, 7, 0].map((shift) => (length >> shift) & 127)])
  return Buffer.concat([header, Buffer.alloc(length), file])
}

/** A Matroska file whose clusters from one time onwards are `by` later; both in milliseconds. */
export function shiftClusters(file: Buffer, from: number, by: number): Buffer {
  const moved = Buffer.from(file)
  const cluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75])
  for (let at = moved.indexOf(cluster); at >= 0; at = moved.indexOf(cluster, at + 4)) {
    // Skips the size, which encodes its length in its first byte; the time is the first element.
    const time = at + 4 + Math.clz32(moved[at + 4]!) - 23
    const bytes = moved[time + 1]! & 0x7f
    if (moved[time] !== 0xe7) throw new Error('The time of a cluster is not its first element.')
    const value = moved.readUIntBE(time + 2, bytes)
    if (value >= from) moved.writeUIntBE(value + by, time + 2, bytes)
  }
  return moved
}
