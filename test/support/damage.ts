/** Returns a file with some of its bytes replaced. */
export function withBytes(file: Buffer, at: number, bytes: number[]): Buffer {
  const changed = Buffer.from(file)
  changed.set(bytes, at)
  return changed
}

/** Returns a file with `count` holes of zeros between its first and its last tenth. The positions are the same on every run. */
export function zeroed(file: Buffer, count: number, length: number): Buffer {
  const damaged = Buffer.from(file)
  const step = (file.length * 0.8) / count
  for (let i = 0; i < count; i++) {
    const at = Math.floor(file.length * 0.1 + i * step)
    damaged.fill(0, at, at + length)
  }
  return damaged
}

/** Joins files one after the other. */
export function concatenate(...files: Buffer[]): Buffer {
  return Buffer.concat(files)
}

/** Returns a WAV whose data chunk is empty and has the length 0. */
export function emptyWav(wav: Buffer): Buffer {
  const at = wav.indexOf('data')
  const header = Buffer.from(wav.subarray(0, at + 8))
  header.writeUInt32LE(0, at + 4)
  header.writeUInt32LE(header.length - 8, 4)
  return header
}

/** Adds an ID3v2.4 tag before a file, with `length` bytes of padding (id3.org, ID3v2.4 §3.1). */
export function withId3(file: Buffer, length: number): Buffer {
  const header = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, ...[21, 14, 7, 0].map((shift) => (length >> shift) & 127)])
  return Buffer.concat([header, Buffer.alloc(length), file])
}

/** Returns a Matroska file in which all clusters from the time `from` on are later by `by`. Both are in milliseconds. */
export function shiftClusters(file: Buffer, from: number, by: number): Buffer {
  const moved = Buffer.from(file)
  const cluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75])
  for (let at = moved.indexOf(cluster); at >= 0; at = moved.indexOf(cluster, at + 4)) {
    // Skips the size of the cluster, whose length is encoded in its first byte. The next element is the time.
    const time = at + 4 + Math.clz32(moved[at + 4]!) - 23
    const bytes = moved[time + 1]! & 0x7f
    if (moved[time] !== 0xe7) throw new Error('The time of a cluster is not its first element.')
    const value = moved.readUIntBE(time + 2, bytes)
    if (value >= from) moved.writeUIntBE(value + by, time + 2, bytes)
  }
  return moved
}

/** Removes the number of samples from a FLAC file, as encoders do that write to a pipe (RFC 9639 §8.2, STREAMINFO). */
export function withoutFlacLength(file: Buffer): Buffer {
  const changed = Buffer.from(file)
  changed[21]! &= 0xf0
  return changed.fill(0, 22, 26)
}
