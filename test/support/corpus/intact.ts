import { ffmpeg, lavfi, makeAudio, makeImage, noise, type Signal, streamedWav, withCover } from '../audio.ts'
import { concatenate, withBytes, withId3 } from '../damage.ts'
import { playable, lossless, lossy, type CorpusFile, SECONDS } from './case.ts'

const encoded = (flags: string[], signal: Partial<Signal> = {}) =>
  ffmpeg([...lavfi({ seconds: SECONDS, ...signal }), ...flags])

const withPicture = (...flags: string[]) =>
  ffmpeg(['-f', 'lavfi', '-i', `color=s=64x64:d=${SECONDS}`, ...lavfi({ seconds: SECONDS }), ...flags])

const pcm = (codec: string, format: string, ...flags: string[]) => encoded(['-c:a', codec, ...flags, '-f', format])

/** Intact files of every kind that is uploaded in practice. */
export const INTACT: CorpusFile[] = [
  lossless('WAV, 8 bit', 'pcm_u8', 8, () => pcm('pcm_u8', 'wav')),
  lossless('WAV, 16 bit', 'pcm_s16le', 16, () => pcm('pcm_s16le', 'wav')),
  lossless('WAV, 24 bit', 'pcm_s24le', 24, () => pcm('pcm_s24le', 'wav')),
  lossless('WAV, 32 bit', 'pcm_s32le', 32, () => pcm('pcm_s32le', 'wav')),
  lossless('WAV, float', 'pcm_f32le', 32, () => pcm('pcm_f32le', 'wav')),
  lossless('WAV, double', 'pcm_f64le', 64, () => pcm('pcm_f64le', 'wav')),
  lossless('RF64', 'pcm_s16le', 16, () => pcm('pcm_s16le', 'wav', '-rf64', 'always')),
  lossless('Wave64', 'pcm_s16le', 16, () => pcm('pcm_s16le', 'w64')),
  lossy('WAV, A-law', 'pcm_alaw', () => pcm('pcm_alaw', 'wav')),
  lossy('WAV, µ-law, 8 kHz mono', 'pcm_mulaw', () =>
    encoded(['-c:a', 'pcm_mulaw', '-f', 'wav'], { rate: 8000, channels: 1 }),
  ),
  lossy('WAV, IMA ADPCM', 'adpcm_ima_wav', () => pcm('adpcm_ima_wav', 'wav')),
  lossy('WAV, MS ADPCM', 'adpcm_ms', () => pcm('adpcm_ms', 'wav')),
  lossy('WAV with MP3 in it', 'mp3', () => pcm('libmp3lame', 'wav', '-b:a', '128k')),
  lossless('AIFF', 'pcm_s16be', 16, () => pcm('pcm_s16be', 'aiff')),
  lossless('AIFF, 24 bit', 'pcm_s24be', 24, () => pcm('pcm_s24be', 'aiff')),
  lossless('AIFF-C, little endian', 'pcm_s16le', 16, () => pcm('pcm_s16le', 'aiff')),
  lossless('AU', 'pcm_s16be', 16, () => pcm('pcm_s16be', 'au')),
  lossless('CAF', 'pcm_s16be', 16, () => pcm('pcm_s16be', 'caf')),
  lossless('FLAC', 'flac', 16, () => makeAudio('flac', { seconds: SECONDS })),
  lossless('FLAC, 24 bit', 'flac', 24, () => pcm('flac', 'flac', '-sample_fmt', 's32')),
  lossless('FLAC without its length', 'flac', 16, async () =>
    // Sets the total number of samples to 0, which means unknown. It has 36 bits at byte 13 of STREAMINFO, which
    // follows 4 + 4 bytes of headers (RFC 9639 §8.2).
    withBytes(await makeAudio('flac', { seconds: SECONDS }), 22, [0, 0, 0, 0]),
  ),
  lossless('FLAC in Ogg', 'flac', 16, () => pcm('flac', 'ogg', '-sample_fmt', 's16')),
  lossless('FLAC in Matroska', 'flac', 16, () => pcm('flac', 'matroska', '-sample_fmt', 's16')),
  lossless('ALAC', 'alac', 16, () => makeAudio('alac', { seconds: SECONDS })),
  lossless('WavPack', 'wavpack', 16, () => pcm('wavpack', 'wv', '-sample_fmt', 's16p')),
  lossless('True Audio', 'tta', 16, () => pcm('tta', 'tta', '-sample_fmt', 's16')),
  lossy('MP3, constant bitrate', 'mp3', () => pcm('libmp3lame', 'mp3', '-b:a', '128k')),
  lossy('MP3, variable bitrate', 'mp3', () => pcm('libmp3lame', 'mp3', '-q:a', '4')),
  lossy('MP3, variable bitrate without a header', 'mp3', () =>
    pcm('libmp3lame', 'mp3', '-q:a', '4', '-write_xing', '0'),
  ),
  lossy('MP3 at 22.05 kHz (MPEG-2)', 'mp3', () => encoded(['-c:a', 'libmp3lame', '-f', 'mp3'], { rate: 22050 })),
  lossy(
    'MP3 at 8 kHz mono (MPEG-2.5)',
    'mp3',
    () => encoded(['-c:a', 'libmp3lame', '-f', 'mp3'], { rate: 8000, channels: 1 }),
    { tolerance: 0.3 },
  ),
  lossy('MP3 with ID3v1 and APE tags', 'mp3', () =>
    pcm('libmp3lame', 'mp3', '-write_id3v1', '1', '-write_apetag', '1', '-metadata', 'title=Both'),
  ),
  lossy('MP3 with 30 MB of ID3', 'mp3', async () => withId3(await makeAudio('mp3', { seconds: SECONDS }), 30_000_000)),
  lossy('MP3 with a cover', 'mp3', async () =>
    withCover('mp3', await makeAudio('mp3', { seconds: SECONDS }), await makeImage('jpeg')),
  ),
  lossy('MPEG layer II', 'mp2', () => pcm('mp2', 'mp2')),
  lossy('M4A, index at the end', 'aac', () => pcm('aac', 'ipod')),
  lossy('M4A, index at the front', 'aac', () => pcm('aac', 'ipod', '-movflags', '+faststart')),
  lossy('M4A in fragments', 'aac', () => pcm('aac', 'mp4', '-movflags', 'frag_keyframe+empty_moov')),
  lossy('AAC, ADTS', 'aac', () => pcm('aac', 'adts')),
  lossy('AAC, LATM', 'aac_latm', () => pcm('aac', 'latm')),
  lossy('Ogg Vorbis', 'vorbis', () => pcm('libvorbis', 'ogg')),
  lossy('Ogg Opus', 'opus', () => pcm('libopus', 'ogg')),
  lossy('Ogg Speex', 'speex', () => encoded(['-c:a', 'libspeex', '-f', 'ogg'], { rate: 16000, channels: 1 })),
  lossy('WebM', 'opus', () => pcm('libopus', 'webm')),
  lossy('Matroska with two streams, the second by default', 'vorbis', () =>
    ffmpeg([
      ...lavfi({ seconds: SECONDS, expression: noise }),
      ...lavfi({ seconds: SECONDS }),
      ...'-map 0 -map 1 -c:a:0 libmp3lame -c:a:1 libvorbis'.split(' '),
      ...'-disposition:a:0 0 -disposition:a:1 default -f matroska'.split(' '),
    ]),
  ),
  lossy('AC-3', 'ac3', () => pcm('ac3', 'ac3')),
  lossy('E-AC-3', 'eac3', () => pcm('eac3', 'eac3')),
  lossy('DTS', 'dts', () => encoded(['-c:a', 'dca', '-strict', '-2', '-f', 'dts'], { rate: 48000 })),
  lossy('WMA', 'wmav2', () => pcm('wmav2', 'asf')),
  lossy('MPEG transport stream', 'aac', () => pcm('aac', 'mpegts')),
  lossy('FLV', 'mp3', () => pcm('libmp3lame', 'flv')),
  lossy(
    'AMR',
    'amr_nb',
    () => encoded(['-c:a', 'libopencore_amrnb', '-b:a', '12.2k', '-f', 'amr'], { rate: 8000, channels: 1 }),
    { tone: -15 },
  ),
  lossy('MP4 video with sound', 'aac', () => withPicture('-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'mp4')),
  lossy('AVI video with sound', 'mp3', () => withPicture('-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi')),
  lossless('8 kHz mono', 'pcm_s16le', 16, () => makeAudio('wav', { seconds: SECONDS, rate: 8000, channels: 1 })),
  lossless('96 kHz, 24 bit', 'pcm_s24le', 24, () => makeAudio('wav24', { seconds: SECONDS, rate: 96000 })),
  lossless(
    '192 kHz, 7.1',
    'pcm_s24le',
    24,
    () => pcm('pcm_s24le', 'wav', '-af', 'aformat=channel_layouts=7.1', '-ar', '192000'),
    { info: { channels: 8, channel_layout: '7.1', sample_rate: 192000 } },
  ),
  lossless('5.1', 'pcm_s16le', 16, () => makeAudio('wav', { seconds: SECONDS, channels: 6 }), {
    info: { channels: 6, channel_layout: '5.1' },
    // All channels are identical and in phase, so the downmix is 7.7 dB louder.
    tone: -4.3,
  }),
  lossless('three channels', 'pcm_s16le', 16, () => pcm('pcm_s16le', 'wav', '-af', 'aformat=channel_layouts=2.1'), {
    info: { channels: 3 },
  }),
  playable('silence', () => makeAudio('wav', { seconds: SECONDS, expression: '0' }), { tone: null }),
  lossless('just long enough', 'pcm_s16le', 16, () => makeAudio('wav', { seconds: 0.06 }), {
    duration: 0.06,
    tone: null,
  }),
  lossless(
    'WAV with length 0, from a pipe',
    'pcm_s16le',
    16,
    async () => streamedWav(await makeAudio('wav', { seconds: SECONDS }), 0),
    { tolerance: 0.05 },
  ),
  lossless(
    'WAV with the longest length, from a pipe',
    'pcm_s16le',
    16,
    async () => streamedWav(await makeAudio('wav', { seconds: SECONDS }), 0xffffffff),
    {
      tolerance: 0.05,
    },
  ),
  lossy('two Ogg files in a chain', 'vorbis', async () =>
    concatenate(await makeAudio('ogg', { seconds: 1 }), await makeAudio('ogg', { seconds: 1 })),
  ),
  lossy(
    'two MP3s of one format',
    'mp3',
    async () => concatenate(await makeAudio('mp3', { seconds: 1 }), await makeAudio('mp3', { seconds: 1 })),
    { warnings: ['damaged'], fallback: true },
  ),
]
