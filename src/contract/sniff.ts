import { HEAD_BYTES, isText } from './text.ts'
import type { FILE_ERRORS } from './track_errors.ts'

/**
 * Detects the type of a file from its first bytes. This file uses neither zod nor Node, so that the type can be checked before a file is sent to a
 * transcoder.
 */

/** The result for a file that may be audio. `demuxer` is the name of ffmpeg's demuxer; null if it is unknown. */
export type Sniffed = {
  demuxer: string | null
  /** True for a WAV whose length field is 0 or a placeholder. A program that writes to a pipe cannot know the length, so the file is not damaged. */
  streamed: boolean
  /** True for a WAV whose length field is greater than the rest of the file. */
  truncated: boolean
}

/** The reason why a file is not audio. The message is for the person who uploads it. */
export type NotAudio = { code: Extract<keyof typeof FILE_ERRORS, `${string}_file`>; message: string }

const COMPLETE = { streamed: false, truncated: false }

/**
 * Checks the first bytes of a file of `size` bytes, or, if the file starts with an ID3 tag, the bytes after the tag. `read` returns at most
 * `HEAD_BYTES` bytes from a position. Text, images, archives and similar files are rejected, because they must never reach ffmpeg.
 */
export async function sniff(
  read: (position: number) => Promise<Uint8Array>,
  size: number,
): Promise<Sniffed | NotAudio> {
  if (size === 0) return { code: 'empty_file', message: 'The file is empty.' }
  const head = await read(0)
  const tagged = ascii(head, 0, 3) === 'ID3' ? id3Length(head) : 0
  return sniffHead(tagged > 0 ? await read(tagged) : head, size - tagged, tagged > 0)
}

/** Classifies a file of `size` bytes by its first bytes. `tagged` is true if an ID3 tag precedes them. */
export function sniffHead(bytes: Uint8Array, size: number, tagged = false): Sniffed | NotAudio {
  const head = bytes.subarray(0, HEAD_BYTES)
  // Text is checked first, because the byte order mark of UTF-16 looks like an MPEG audio frame.
  const demuxer = isText(head) ? undefined : demuxerOf(head)
  if (demuxer) return { demuxer, ...(demuxer === 'wav' ? waveLength(head, size) : COMPLETE) }
  if (tagged) return { demuxer: 'mp3', ...COMPLETE }
  return foreign(head) ?? { demuxer: null, ...COMPLETE }
}

const AT_START: [string, string][] = [
  ['fLaC', 'flac'],
  ['OggS', 'ogg'],
  ['caff', 'caf'],
  ['.snd', 'au'],
  ['MAC ', 'ape'],
  ['wvpk', 'wv'],
  ['TTA1', 'tta'],
  ['TTA2', 'tta'],
  ['MPCK', 'mpc8'],
  ['MP+', 'mpc'],
  ['#!AMR', 'amr'],
  ['FLV', 'flv'],
  ['\x1a\x45\xdf\xa3', 'matroska'],
  ['\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'asf'],
  ['riff\x2e\x91\xcf\x11', 'w64'],
  ['\x00\x00\x01\xba', 'mpeg'],
  ['\x7f\xfe\x80\x01', 'dts'],
  ['\xfe\x7f\x01\x80', 'dts'],
]

function demuxerOf(head: Uint8Array): string | undefined {
  const chunk = ascii(head, 0, 4)
  const kind = ascii(head, 8, 12)
  if (/^(RIFF|RIFX|RF64|BW64)$/.test(chunk)) return { WAVE: 'wav', 'AVI ': 'avi' }[kind]
  if (chunk === 'FORM') return /^AIF[FC]$/.test(kind) ? 'aiff' : undefined
  const box = ascii(head, 4, 8)
  if (box === 'ftyp' && /^(avi[fs]|hei[cfmsx]|hev[cx]|mif1|msf1|jxl )$/.test(kind)) return undefined
  if (/^(ftyp|moov|mdat|wide|free|skip|pnot)$/.test(box)) return 'mov'
  const signature = AT_START.find(([magic]) => ascii(head, 0, magic.length) === magic)
  if (signature) return signature[1]
  if (head[0] === 0x47 && head[188] === 0x47 && head[376] === 0x47) return 'mpegts'
  if (head[0] === 0x0b && head[1] === 0x77) return (head[5] ?? 0) >> 3 > 10 ? 'eac3' : 'ac3'
  return mpegAudio(head)
}

/** Distinguishes ADTS, LOAS and MPEG audio layers I–III by the header of the first frame (ISO/IEC 13818-7, 14496-3, 11172-3). */
function mpegAudio(head: Uint8Array): string | undefined {
  const [a = 0, b = 0, c = 0] = head
  if (a === 0x56 && (b & 0xe0) === 0xe0) return 'loas'
  if (a !== 0xff || (b & 0xe0) !== 0xe0) return undefined
  if ((b & 0xf6) === 0xf0) return 'aac'
  const version = (b >> 3) & 3
  const layer = (b >> 1) & 3
  const valid = version !== 1 && layer !== 0 && c >> 4 !== 15 && ((c >> 2) & 3) !== 3
  return valid ? 'mp3' : undefined
}

/**
 * Other types of files that people upload: error code, name in messages, and pattern for the first bytes. Playlists and scripts are rejected because
 * they refer to other files.
 */
const FOREIGN: [NotAudio['code'], string, RegExp][] = [
  [
    'image_file',
    'an image',
    // oxlint-disable-next-line no-control-regex -- magic bytes
    /^(\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\0{4}|II\*\0|MM\0\*|RIFF.{4}WEBP|8BPS|\0\0[\x01\x02]\0)/s,
  ],
  ['image_file', 'an image', /^.{4}ftyp(avi|hei|hev|mif|msf|jxl)/s],
  // oxlint-disable-next-line no-control-regex -- magic bytes
  ['document_file', 'a document', /^(%PDF|\{\\rtf|\xd0\xcf\x11\xe0)/],
  ['document_file', 'a program', /^(\x7fELF|MZ|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe)/],
  [
    'archive_file',
    'an archive',
    // oxlint-disable-next-line no-control-regex -- magic bytes
    /^(PK\x03\x04|PK\x05\x06|7z\xbc\xaf|Rar!|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|\x1f\x8b|.{257}ustar)/s,
  ],
  // Clients that send `multipart/form-data` store the form with the file inside.
  ['text_file', 'a form (multipart/form-data)', /^--[^\r\n]{1,200}\r\nContent-Disposition: form-data/i],
  ['playlist_file', 'a playlist', /^\s*(#EXTM3U|#EXT-X|ffconcat|file\s+['"/]|\[playlist\]|\[Reference\]|v=0\r?\n)/i],
]

const XML_ROOTS = new Map<string, [NotAudio['code'], string]>([
  ['svg', ['image_file', 'an image']],
  ...['mpd', 'smil', 'asx', 'playlist'].map((root): [string, [NotAudio['code'], string]] => [
    root,
    ['playlist_file', 'a playlist'],
  ]),
])

/** Identifies a file that is not audio, so that the error can name its type. */
function foreign(head: Uint8Array): NotAudio | undefined {
  const text = ascii(head, 0, head.length).replace(/^\xef\xbb\xbf/, '')
  const [code, kind] = FOREIGN.find(([, , pattern]) => pattern.test(text)) ?? XML_ROOTS.get(xmlRoot(text)) ?? []
  if (code) return { code, message: `This is ${kind}, not audio. Upload the audio file itself.` }
  if (isText(head)) return { code: 'text_file', message: 'This is text, not audio. Upload the audio file itself.' }
}

// Several replacements are used, because an attacker could force a single expression into catastrophic backtracking.
function xmlRoot(text: string): string {
  const bare = text
    .replace(/<!--.*?-->/gs, '')
    .replace(/<\?.*?\?>/gs, '')
    .replace(/<!DOCTYPE[^[>]*(\[[^\]]*\]\s*)?>/i, '')
  return /^\s*<([\w-]+)[\s/>]/.exec(bare)?.[1]?.toLowerCase() ?? ''
}

function waveLength(head: Uint8Array, size: number) {
  if (ascii(head, 0, 4) !== 'RIFF') return COMPLETE
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  for (let at = 12; at + 8 <= head.length;) {
    const length = view.getUint32(at + 4, true)
    if (ascii(head, at, at + 4) === 'data') {
      const streamed = (length === 0 || length >= 0x7fff0000) && at + 8 + length !== size
      return { streamed, truncated: !streamed && at + 8 + length > size }
    }
    at += 8 + length + (length % 2)
  }
  return COMPLETE
}

/** Returns the length of an ID3v2 tag, including its header. It is stored in four bytes with seven bits each (id3.org, ID3v2.4 §3.1). */
function id3Length(head: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10)
  return 10 + ((a & 127) << 21) + ((b & 127) << 14) + ((c & 127) << 7) + (d & 127)
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}
