import { describe, expect, it } from 'vitest'

import { sniffHead } from '../../src/contract/sniff.ts'
import { HEAD_BYTES, isText } from '../../src/contract/text.ts'
import { type Format, makeAudio } from '../support/audio.ts'

const head = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(64, 1)])
const judge = (bytes: Buffer) => sniffHead(bytes, bytes.length)
const demuxerOf = (bytes: Buffer) => ({ demuxer: undefined, ...judge(bytes) }).demuxer

describe('sniff', () => {
  it.each<[Format, string]>([
    ['wav', 'wav'],
    ['aiff', 'aiff'],
    ['flac', 'flac'],
    ['alac', 'mov'],
    ['m4a', 'mov'],
    ['adts', 'aac'],
    ['ogg', 'ogg'],
    ['opus', 'ogg'],
    ['webm', 'matroska'],
  ])('recognizes a real %s file as %s', async (format, demuxer) => {
    expect(demuxerOf(await makeAudio(format, { seconds: 0.1 }))).toBe(demuxer)
  })

  it.each([
    ['\xff\xfb\x90\x64', 'mp3'],
    ['\xff\xf1\x50\x80', 'aac'],
    ['\x56\xe0\x12\x34', 'loas'],
    ['\x0b\x77\x00\x00\x00\x40', 'ac3'],
    ['\x0b\x77\x00\x00\x00\x80', 'eac3'],
    ['#!AMR\n', 'amr'],
    ['caff\0\x01', 'caf'],
    ['wvpk', 'wv'],
    ['MAC \x96', 'ape'],
    ['\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9', 'asf'],
    ['RF64\xff\xff\xff\xffWAVEds64', 'wav'],
    ['RIFF\0\0\0\0AVI LIST', 'avi'],
  ])('recognizes the magic bytes %j as %s', (magic, demuxer) => {
    expect(demuxerOf(head(magic))).toBe(demuxer)
  })

  it.each([
    ['\xff\xff\xff\xff', 'an MPEG header with reserved fields'],
    ['\xff\xfb\xf0\x64', 'an MPEG header with the forbidden bitrate'],
    ['\x01\x02\x03\x04', 'unknown bytes'],
  ])('leaves %j (%s) to ffprobe', (magic) => {
    expect(demuxerOf(head(magic))).toBeNull()
  })

  it.each([
    ['%PDF-1.7', 'document_file', 'document'],
    ['{\\rtf1', 'document_file', 'document'],
    ['\x7fELF', 'document_file', 'program'],
    ['PK\x03\x04', 'archive_file', 'archive'],
    ['\x1f\x8b\x08', 'archive_file', 'archive'],
    [`song.mp3${'\0'.repeat(249)}ustar`, 'archive_file', 'archive'],
    ['GIF89a', 'image_file', 'image'],
    ['\xff\xd8\xff\xe0', 'image_file', 'image'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image_file', 'image'],
    ['\0\0\0\x20ftypheic', 'image_file', 'image'],
    [
      '<?xml version="1.0"?><!-- x --><!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg ',
      'image_file',
      'image',
    ],
    ['  #EXTM3U', 'playlist_file', 'playlist'],
    ['FFCONCAT version 1.0', 'playlist_file', 'playlist'],
    ["file 'other.wav'", 'playlist_file', 'playlist'],
    ['[playlist]\nFile1=x', 'playlist_file', 'playlist'],
    ['v=0\r\no=- 0 0', 'playlist_file', 'playlist'],
    ['<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash">', 'playlist_file', 'playlist'],
    ['<smil>', 'playlist_file', 'playlist'],
    ['----b\r\nContent-Disposition: form-data; name="a"\r\n\r\nRIFF', 'text_file', 'form \\(multipart/form-data\\)'],
  ])('rejects %j as %s', (magic, code, kind) => {
    const message = expect.stringMatching(new RegExp(`^This is an? ${kind}, not audio`))
    expect(judge(head(magic))).toEqual({ code, message })
  })

  it('stays fast on input that looks like endless XML', () => {
    for (const piece of ['<constructor>', '<!---->', '<!--', '<?', '<!DOCTYPE [', '<!-- --> ', ' ']) {
      expect(judge(Buffer.from(piece.repeat(4096).slice(0, 4096)))).toMatchObject({ code: 'text_file' })
    }
  })

  it.each([
    ['UTF-8', Buffer.from('Grüße, {"json": true}\n')],
    ['UTF-8 with a mark', Buffer.from('\ufeffTITLE "Album"\r\n')],
    ['Latin 1', Buffer.from('Grüße\r\n', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffDear diary 日記 🎵', 'utf16le')],
    ['UTF-16, high bytes first', Buffer.from('\ufeffDear diary 日記 🎵', 'utf16le').swap16()],
    ['UTF-16, cut in a character', Buffer.from('\ufeffDear diary 🎵', 'utf16le').subarray(0, -3)],
  ])('rejects text in %s', (_, text) => {
    expect(judge(text)).toMatchObject({
      code: 'text_file',
      message: expect.stringContaining('This is text, not audio.'),
    })
  })

  it('does not mistake audio for text', async () => {
    const formats = ['wav', 'aiff', 'flac', 'alac', 'm4a', 'adts', 'ogg', 'opus', 'webm', 'mp3'] as const
    for (const format of formats) {
      const bytes = await makeAudio(format, { seconds: 0.5 })
      expect([format, isText(bytes.subarray(0, HEAD_BYTES))]).toEqual([format, false])
    }
    // Audio that looks like text: an ID3 tag of readable words, MPEG layer I, which starts like UTF-16, and a header of
    // one kilobyte of text before the samples.
    const words = Buffer.from(`ID3\x03\0\0\0\0\x0f\x76TIT2\0\0\x07\x6c\0\0\0${'la '.repeat(700)}`, 'latin1')
    const layerOne = Buffer.concat([Buffer.from([0xff, 0xfe, 0x44, 0x00]), Buffer.alloc(300, 0xdb)])
    const sphere = Buffer.concat([Buffer.from('NIST_1A\n   1024\n'.padEnd(1024)), Buffer.alloc(3072, 7)])
    expect([words, layerOne, sphere].map(isText)).toEqual([false, false, false])
  })
})
