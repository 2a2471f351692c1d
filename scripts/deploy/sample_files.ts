/** Generates a second of audio and a picture, so that git contains no binary files. */

/** Returns a WAV file with one second of a tone at 440 Hz: 16 kHz, 16 bit, mono. */
export function makeWav(rate = 16_000): Uint8Array<ArrayBuffer> {
  const wav = Buffer.alloc(44 + rate * 2)
  wav.write('RIFF\0\0\0\0WAVEfmt ', 'latin1')
  wav.writeUInt32LE(36 + rate * 2, 4)
  // The fields of the `fmt ` chunk: its length, PCM and one channel, samples per second, bytes per second, and bytes and bits per sample.
  const fields = [16, 1 | (1 << 16), rate, rate * 2, 2 | (16 << 16)]
  for (const [i, field] of fields.entries()) wav.writeUInt32LE(field, 16 + i * 4)
  wav.write('data', 36, 'latin1')
  wav.writeUInt32LE(rate * 2, 40)
  for (let i = 0; i < rate; i++)
    wav.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / rate)), 44 + i * 2)
  return new Uint8Array(wav)
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Returns a PNG with a single pixel. */
export const makePng = () => new Uint8Array(Buffer.from(PIXEL, 'base64'))
