import { makeAudio } from '../support/audio.ts'

/**
 * What an attack tries to open: `url` returns the URL for a last path segment; `file` is an absolute path, and
 * `relative` is a path relative to the job's directory.
 */
export type Targets = { url: (path: string) => string; file: string; relative: string }

const hls = (...lines: string[]) =>
  ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:10', ...lines, '#EXT-X-ENDLIST', ''].join('\n')
const segment = (uri: string) => hls('#EXTINF:10,', uri)
const concat = (uri: string) => `ffconcat version 1.0\nfile '${uri}'\n`
const dash = (before: string, base: string) =>
  `<?xml version="1.0"?>${before}<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S">` +
  `<Period><AdaptationSet mimeType="audio/mp4"><Representation id="a" bandwidth="1000"><BaseURL>${base}</BaseURL>` +
  '</Representation></AdaptationSet></Period></MPD>'

/** Playlists, scripts and XML that reference other files (docs/architecture.md#ffmpeg). */
function scripts({ url, file, relative }: Targets): Record<string, string> {
  const entity = `<!DOCTYPE x [<!ENTITY e SYSTEM "file://${file}"><!ENTITY h SYSTEM "${url('entity')}">]>`
  const key = (uri: string) => hls(`#EXT-X-KEY:METHOD=AES-128,URI="${uri}"`, '#EXTINF:10,', 'src')
  return {
    'HLS to HTTP': segment(url('hls.ts')),
    'HLS to file://': segment(`file://${file}`),
    'HLS to an absolute path': segment(file),
    'HLS to a relative path': segment(relative),
    'HLS to concat:': segment(`concat:${url('concat.ts')}|${file}`),
    'HLS to a key by HTTP': key(url('key')),
    'HLS to a key in a file': key(`file://${file}`),
    'HLS to an initial section': hls(`#EXT-X-MAP:URI="${url('map.mp4')}"`, '#EXTINF:10,', url('map.m4s')),
    'HLS master playlist': `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n${url('master.m3u8')}\n`,
    'ffconcat to an absolute path': concat(file),
    'ffconcat to a relative path': concat(relative),
    'ffconcat to HTTP': concat(url('concat.wav')),
    DASH: dash('', url('dash.mp4')),
    'DASH with entities': dash(entity, '&e;&h;'),
    SDP: `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=control:${url('sdp')}\nm=audio 5004 RTP/AVP 0\n`,
    'SVG with entities': `<?xml version="1.0"?>${entity}<svg xmlns="http://www.w3.org/2000/svg"><text>&e;&h;</text><image href="${url('svg')}"/></svg>`,
    PLS: `[playlist]\nFile1=${url('pls.mp3')}\nFile2=${file}\nNumberOfEntries=2\n`,
    M3U: `${url('m3u.mp3')}\n${file}\n`,
    'M3U with a mark of byte order': `\ufeff#EXTM3U\n${url('bom.mp3')}\n`,
    'HLS behind empty lines': `\n\r\n  ${segment(url('blank.ts'))}`,
    SMIL: `<smil><body><audio src="${url('smil.mp3')}"/><audio src="file://${file}"/></body></smil>`,
    ASX: `<asx version="3.0"><entry><ref href="${url('asx.wma')}"/></entry></asx>`,
    'ASF reference': `[Reference]\r\nRef1=${url('ref.asf')}?MSWMExt=.asf\r\n`,
    XSPF: `<?xml version="1.0"?>${entity}<playlist xmlns="http://xspf.org/ns/0/"><trackList><track><location>${url('xspf')}</location></track></trackList></playlist>`,
    'cue sheet': `FILE "${file}" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n`,
    'VobSub index': `# VobSub index file, v7 (do not modify this line!)\nsize: 720x576\nid: en, index: 0\n`,
    'RealText by RTSP': `rtsp://127.0.0.1/x\n${url('rtsp')}\n`,
  }
}

const zeros = (count: number) => '\0'.repeat(count)

/** Prefixes that make a script look like audio. */
const DISGUISES: Record<string, string> = {
  'an ID3 tag': `ID3\x04\0\0\0\0\0\x0a${zeros(10)}`,
  'an MP3 frame': `\xff\xfb\x90\x64${zeros(413)}`,
  'an ADTS frame': `\xff\xf1\x50\x80\x02\x1f\xfc${zeros(9)}`,
  'a RIFF header': 'RIFF\xff\xff\0\0WAVE',
  'a WAV header': 'RIFF\xff\xff\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0',
  'a FLAC mark': 'fLaC',
  'an Ogg page': `OggS\0\x02${zeros(20)}\x01\x20`,
  'an MP4 brand': '\0\0\0\x10ftypM4A \0\0\0\0',
  'a Matroska mark': '\x1a\x45\xdf\xa3\x80',
  'an AMR mark': '#!AMR\n',
}

/** All attack files: each script alone, the three most dangerous ones in every disguise, and QuickTime files with external audio. */
export async function attackFiles(targets: Targets): Promise<[string, Buffer][]> {
  const plain = Object.entries(scripts(targets))
  const { relative, url, file } = targets
  const worst: [string, string][] = [
    ['HLS', segment(url('disguised.ts'))],
    ['HLS of a file', segment(`file://${file}`)],
    ['ffconcat', concat(relative)],
  ]
  const disguised = Object.entries(DISGUISES).flatMap(([disguise, magic]) =>
    worst.map(([name, text]): [string, Buffer] => [`${name} behind ${disguise}`, Buffer.from(magic + text, 'latin1')]),
  )
  const movie = await makeAudio('m4a', { seconds: 1 })
  return [
    ...plain.map(([name, text]): [string, Buffer] => [name, Buffer.from(text)]),
    ...disguised,
    ['QuickTime with its audio at a URL', withReference(movie, Buffer.from(`url \0\0\0\0${url('dref')}\0`, 'latin1'))],
    ['QuickTime with its audio in a file', withReference(movie, alias(relative))],
  ]
}

/** A Macintosh alias record with the fields that ffmpeg reads. They lead one level up from the alias and then down to the target. */
function alias(path: string): Buffer {
  const name = path.replace('../', '')
  const head = Buffer.alloc(8 + 10 + 28 + 12 + 64 + 16 + 4 + 16)
  head.write('alis', 'latin1')
  head.writeUInt8(name.length, 8 + 10 + 28 + 12)
  head.write(name, 8 + 10 + 28 + 12 + 1)
  head.writeUInt16BE(2, head.length - 20)
  head.writeUInt16BE(1, head.length - 18)
  const target = Buffer.from(`:${name}${name.length % 2 ? '' : '\0'}`)
  return Buffer.concat([head, Buffer.from([0, 2, 0, target.length]), target, Buffer.from([0xff, 0xff, 0, 0])])
}

/** Replaces the only data reference of an MP4 whose index (`moov`) is at the end (ISO/IEC 14496-12 §8.7.2). */
function withReference(file: Buffer, entry: Buffer): Buffer {
  const at = file.indexOf('dref') + 12
  const before = file.readUInt32BE(at)
  const box = Buffer.concat([Buffer.alloc(4), entry])
  box.writeUInt32BE(box.length)
  const changed = Buffer.concat([file.subarray(0, at), box, file.subarray(at + before)])
  for (const parent of ['dref', 'dinf', 'minf', 'mdia', 'trak', 'moov']) {
    const size = file.indexOf(parent) - 4
    changed.writeUInt32BE(file.readUInt32BE(size) + box.length - before, size)
  }
  return changed
}
