import { randomFillSync } from 'node:crypto'

import type { Pcm } from './signal.ts'

/** Speaker masks of WAVE_FORMAT_EXTENSIBLE by the number of channels: mono, stereo, 5.0, 5.1, 7.1. */
const MASKS: Record<number, number> = { 1: 0x4, 2: 0x3, 5: 0x37, 6: 0x3f, 8: 0x63f }
const PCM_GUID = Buffer.from('0100000000001000800000aa00389b71', 'hex')

/** Returns a WAV file with exactly these samples. It is written byte by byte, so that no audio tool can change a test's signal. */
export function wavFile({ rate, bits, channels }: Pcm, mask = MASKS[channels.length] ?? 0): Buffer {
  const frames = channels[0]!.length
  const width = bits / 8
  const block = width * channels.length
  const head = header({ rate, bits, count: channels.length, mask, size: frames * block })
  const file = Buffer.alloc(head.length + frames * block + ((frames * block) % 2))
  head.copy(file)
  for (const [place, samples] of channels.entries()) {
    let at = head.length + place * width
    for (const sample of samples) {
      for (let byte = 0; byte < width; byte++) file[at + byte] = (sample >> (8 * byte)) & 0xff
      at += block
    }
  }
  return file
}

/** Returns a WAV of noise. It is created quickly even if it is an hour long, but a transcoder needs time for it. */
export function noiseWav(rate: number, seconds: number, bits = 8, count = 1): Buffer {
  const size = (rate * seconds * bits * count) / 8
  const head = header({ rate, bits, count, mask: MASKS[count]!, size })
  return Buffer.concat([head, randomFillSync(Buffer.alloc(size))])
}

type Header = { rate: number; bits: number; count: number; mask: number; size: number }

// The header declares plain PCM if that is sufficient. More than two channels or 16 bits need the extensible form.
function header({ rate, bits, count, mask, size }: Header): Buffer {
  const extensible = count > 2 || bits > 16
  const format = Buffer.alloc(extensible ? 40 : 16)
  format.writeUInt16LE(extensible ? 0xfffe : 1, 0)
  format.writeUInt16LE(count, 2)
  format.writeUInt32LE(rate, 4)
  format.writeUInt32LE((rate * count * bits) / 8, 8)
  format.writeUInt16LE((count * bits) / 8, 12)
  format.writeUInt16LE(bits, 14)
  if (extensible) {
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(bits, 18)
    format.writeUInt32LE(mask, 20)
    PCM_GUID.copy(format, 24)
  }
  const padded = size + (size % 2)
  const riff = [Buffer.from('RIFF'), uint32(4 + 8 + format.length + 8 + padded), Buffer.from('WAVE')]
  return Buffer.concat([...riff, Buffer.from('fmt '), uint32(format.length), format, Buffer.from('data'), uint32(size)])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
