import { describe, expect, it } from 'vitest'

import { Fault } from '../../container/fault.ts'
import { sniff } from '../../container/sniff.ts'
import { type Format, makeAudio } from '../support/audio.ts'

const head = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(64, 1)])
const name = (bytes: Buffer) => sniff(bytes, bytes.length).demuxer

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
  ])('knows real %s as %s', async (format, demuxer) => {
    expect(name(await makeAudio(format, { seconds: 0.1 }))).toBe(demuxer)
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
  ])('knows the magic %j as %s', (magic, demuxer) => {
    expect(name(head(magic))).toBe(demuxer)
  })

  it.each([
    ['\xff\xff\xff\xff', 'an MPEG header with reserved fields'],
    ['\xff\xfb\xf0\x64', 'an MPEG header with the forbidden bitrate'],
    ['\x01\x02\x03\x04', 'unknown bytes'],
  ])('leaves %j, %s, to a closer look', (magic) => {
    expect(name(head(magic))).toBeNull()
  })

  it.each([
    ['%PDF-1.7', 'document'],
    ['PK\x03\x04', 'archive'],
    ['\x1f\x8b\x08', 'archive'],
    ['GIF89a', 'image'],
    ['\xff\xd8\xff\xe0', 'image'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image'],
    ['\0\0\0\x20ftypheic', 'image'],
    ['\x7fELF', 'program'],
    ['  #EXTM3U', 'playlist'],
    ['FFCONCAT version 1.0', 'playlist'],
  ])('refuses %j as an %s', (magic, kind) => {
    expect(() => name(head(magic))).toThrow(Fault)
    expect(() => name(head(magic))).toThrow(kind)
  })

  it('refuses text in UTF-8 too', () => {
    expect(() => name(Buffer.from('Grüße, {"json": true}\n'))).toThrow('This is text, not audio.')
  })
})
