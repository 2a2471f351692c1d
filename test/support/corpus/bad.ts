import { ffmpeg, lavfi, makeAudio, makeImage } from '../audio.ts'
import { emptyWav, withBytes, withId3 } from '../damage.ts'
import type { CorpusFile } from './case.ts'

const fails = (name: string, code: string, make: () => Promise<Buffer> | Buffer): CorpusFile => ({
  name,
  fails: code,
  make: async () => make(),
})

/** Files that are not audio or cannot be played. */
export const BAD: CorpusFile[] = [
  fails('nothing at all', 'empty_file', () => Buffer.alloc(0)),
  fails('text', 'text_file', () => Buffer.from('Dear ffmpeg, please read on.\n')),
  fails('a web page', 'text_file', () => Buffer.from('<!doctype html><title>Not found</title>')),
  fails('an SVG', 'image_file', () => Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')),
  fails('a PNG', 'image_file', () => makeImage('png')),
  fails('an AVIF', 'image_file', () => makeImage('avif')),
  fails('a PDF', 'document_file', () => Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj')),
  fails('a ZIP', 'archive_file', () => Buffer.from('PK\x03\x04 and so on, for some more bytes')),
  fails('an HLS playlist', 'playlist_file', () => Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')),
  fails('a concat script', 'playlist_file', () => Buffer.from("ffconcat version 1.0\nfile 'src'\n")),
  fails('random bytes', 'unsupported_format', () =>
    Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 7919) >> 5)),
  ),
  fails('speech in SMV, which ffmpeg knows and cannot decode', 'unsupported_format', async () =>
    Buffer.from(
      (await ffmpeg([...lavfi({ seconds: 1 }), '-c:a', 'pcm_s16le', '-f', 'mov']))
        .toString('latin1')
        .replace('sowt', 'ssmv'),
      'latin1',
    ),
  ),
  fails('a video without sound', 'no_audio', () =>
    ffmpeg(['-f', 'lavfi', '-i', 'color=s=64x64:d=0.2', '-f', 'matroska']),
  ),
  fails('a WAV header without audio', 'no_samples', async () => emptyWav(await makeAudio('wav', { seconds: 1 }))),
  fails('a FLAC cut in its header', 'decode_failed', async () =>
    (await makeAudio('flac', { seconds: 1 })).subarray(0, 60),
  ),
  fails('an ID3 tag without audio', 'decode_failed', () => withId3(Buffer.alloc(0), 5000)),
  fails('a single sample', 'too_short', () => makeAudio('wav', { seconds: 1 / 44100 })),
  fails('nine channels', 'unsupported_channels', async () => {
    const wav = await makeAudio('wav', { seconds: 1 })
    wav.writeUInt16LE(9, 22)
    wav.writeUInt16LE(18, 32)
    return wav
  }),
  fails('a sample rate of 100 Hz', 'unsupported_sample_rate', async () =>
    withBytes(await makeAudio('wav', { seconds: 1 }), 24, [100, 0, 0, 0]),
  ),
  fails('a sample rate of 1.1 MHz', 'unsupported_sample_rate', () =>
    makeAudio('wav', { seconds: 0.1, rate: 1_100_000, channels: 1 }),
  ),
]
