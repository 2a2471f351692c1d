import { crc32, deflateSync } from 'node:zlib'

/** A PNG that declares `edge`² RGB pixels but contains only the first rows: enough for a decoder to allocate memory for all rows. */
export function pngBomb(edge: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(edge)
  header.writeUInt32BE(edge, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc((edge * 3 + 1) * 64))
  const chunk = (name: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(name), data])
    return Buffer.concat([uint32(data.length), named, uint32(crc32(named))])
  }
  const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([magic, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

const BLOCK = 65_535

/** A mono FLAC of silence that needs only 17 bytes per 65,535 samples (RFC 9639 §9). `length` is the sample count in the header; 0 means unknown. */
export function flacBomb(seconds: number, rate: number, length: number): Buffer {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(BLOCK, 0)
  info.writeUInt16BE(BLOCK, 2)
  // The fields are: sample rate (20 bits), number of channels - 1 (3 bits), bits per sample - 1 (5 bits), and length (36 bits).
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (15n << 36n) | BigInt(length), 10)
  const frames = Array.from({ length: Math.ceil((seconds * rate) / BLOCK) }, (_, i) => silentFrame(i))
  return Buffer.concat([Buffer.from('fLaC\x80\0\0\x22', 'latin1'), info, ...frames])
}

function silentFrame(number: number): Buffer {
  // The header states a fixed block size, which follows the frame number in 16 bits, the rate and the depth of STREAMINFO, and mono.
  const head = Buffer.from([0xff, 0xf8, 0x70, 0x00, ...codedNumber(number), (BLOCK - 1) >> 8, (BLOCK - 1) & 0xff])
  const body = Buffer.concat([head, Buffer.from([crc(head, 8, 0x07)]), Buffer.from([0x00, 0x00, 0x00])])
  const check = crc(body, 16, 0x8005)
  return Buffer.concat([body, Buffer.from([check >> 8, check & 0xff])])
}

// Encodes a number of up to 16 bits like UTF-8.
function codedNumber(n: number): number[] {
  if (n < 0x80) return [n]
  if (n < 0x800) return [0xc0 | (n >> 6), 0x80 | (n & 0x3f)]
  return [0xe0 | (n >> 12), 0x80 | ((n >> 6) & 0x3f), 0x80 | (n & 0x3f)]
}

function crc(bytes: Buffer, bits: 8 | 16, polynomial: number): number {
  const top = 1 << (bits - 1)
  let value = 0
  for (const byte of bytes) {
    value ^= byte << (bits - 8)
    for (let i = 0; i < 8; i++) value = value & top ? (value << 1) ^ polynomial : value << 1
    value &= (1 << bits) - 1
  }
  return value
}

/** A Matroska file that declares `count` PCM tracks (RFC 9559). */
export function matroskaOfTracks(count: number): Buffer {
  const audio = element(0xe1, element(0xb5, float(8000)), element(0x9f, Buffer.from([1])))
  const tracks = Array.from({ length: count }, (_, i) => {
    const number = Buffer.from([(i + 1) >> 8, (i + 1) & 0xff])
    const codec = element(0x86, Buffer.from('A_PCM/INT/LIT'))
    return element(0xae, element(0xd7, number), element(0x73c5, number), element(0x83, Buffer.from([2])), codec, audio)
  })
  const head = element(0x1a45dfa3, element(0x4282, Buffer.from('matroska')))
  const cluster = element(
    0x1f43b675,
    element(0xe7, Buffer.from([0])),
    element(0xa3, Buffer.from([0x81, 0, 0, 0x80]), Buffer.alloc(1600)),
  )
  return Buffer.concat([head, element(0x18538067, element(0x1654ae6b, ...tracks), cluster)])
}

function element(id: number, ...content: Buffer[]): Buffer {
  const data = Buffer.concat(content)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE((1n << 56n) | BigInt(data.length))
  return Buffer.concat([Buffer.from(id.toString(16), 'hex'), size, data])
}

/** Repeats the only track of an MP4 until there are `count` tracks. The index of the MP4 must be at the end. */
export function mp4OfTracks(file: Buffer, count: number): Buffer {
  const moov = file.indexOf('moov') - 4
  const trak = file.indexOf('trak') - 4
  const end = trak + file.readUInt32BE(trak)
  const copies = Array.from({ length: count - 1 }, () => file.subarray(trak, end))
  const many = Buffer.concat([file.subarray(0, end), ...copies, file.subarray(end)])
  many.writeUInt32BE(file.readUInt32BE(moov) + (count - 1) * (end - trak), moov)
  return many
}

/** An MPEG transport stream with 60 programs of 180 audio streams each (ISO/IEC 13818-1 §2.4.4). */
export function transportOfStreams(): Buffer {
  const programs = Array.from({ length: 60 }, (_, i) => i + 1)
  const pat = programs.flatMap((program) => [0, program, 0xe1, program])
  const tables = programs.map((program) => {
    const streams = Array.from({ length: 180 }, (_, i) => [0x03, 0xe0 | ((i + 512) >> 8), (i + 512) & 0xff, 0xf0, 0])
    return section(0x02, 0x100 + program, program, [0xe2, 0, 0xf0, 0, ...streams.flat()])
  })
  const tableSet = Buffer.concat([section(0x00, 0, 1, pat), ...tables])
  return Buffer.concat([tableSet, tableSet, tableSet])
}

/** Builds one table, split into packets of 188 bytes. */
function section(table: number, pid: number, id: number, content: number[]): Buffer {
  const length = content.length + 9
  const body = Buffer.from([table, 0xb0 | (length >> 8), length & 0xff, id >> 8, id & 0xff, 0xc1, 0, 0, ...content])
  const bytes = Buffer.concat([Buffer.from([0]), body, uint32(mpegCrc(body))])
  const packets: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 184) {
    const first = at === 0 ? 0x40 : 0
    const packet = Buffer.alloc(188, 0xff)
    packet.set([0x47, first | (pid >> 8), pid & 0xff, 0x10 | (packets.length % 16)])
    bytes.copy(packet, 4, at, at + 184)
    packets.push(packet)
  }
  return Buffer.concat(packets)
}

function mpegCrc(bytes: Buffer): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte << 24
    for (let i = 0; i < 8; i++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1
  }
  return value >>> 0
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}
