import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { separatePieces } from '../../container/audio/source/ogg.ts'
import { makeAudio } from '../support/audio.ts'
import { concatenate } from '../support/damage.ts'

let directory: string
/** A Vorbis file of one stream. */
let piece: Buffer

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-ogg-'))
  piece = await makeAudio('ogg', { seconds: 0.1 })
})
afterAll(() => rm(directory, { recursive: true }))

const FIRST = 2
const [HEADER, SERIAL] = [27, 14]

/** Returns a page with 255 segments of 255 bytes, without a valid checksum. */
function page(serial: number, flags = 0, content = Buffer.alloc(255 * 255, 7)): Buffer {
  const header = Buffer.alloc(HEADER + 255, 255)
  header.fill(0, 0, HEADER - 1)
  header.write('OggS')
  header[5] = flags
  header.writeUInt32LE(serial, SERIAL)
  return Buffer.concat([header, content])
}

/** Without a valid checksum, a page counts only if another one follows. */
const END = Buffer.from('OggS')

/** Separates the pieces of a file, and returns the file as it is then. */
async function separate(...parts: Buffer[]) {
  const path = join(directory, 'file')
  const file = concatenate(...parts)
  await writeFile(path, file)
  const isChained = await separatePieces(path, new AbortController().signal)
  return { isChained, file, separated: await readFile(path) }
}

/** Returns the serial numbers of all pages. */
function serialsOf(file: Buffer): number[] {
  const serials: number[] = []
  for (let at = file.indexOf(END); at >= 0 && at + HEADER <= file.length; at = file.indexOf(END, at + 4))
    serials.push(file.readUInt32LE(at + SERIAL))
  return serials
}

describe('a chained Ogg file', () => {
  it('gets a serial number for each piece', async () => {
    const pages = [5, 5, 9, 9].flatMap((serial) => [page(serial, FIRST), page(serial)])
    const { isChained, separated } = await separate(...pages, END)
    const serials = serialsOf(separated)
    const [a, b, c, d] = [serials[0], serials[2], serials[4], serials[6]]
    expect([isChained, serials]).toEqual([true, [a, a, b, b, c, c, d, d]])
    expect([a, c, new Set(serials).size]).toEqual([5, 9, 4])
  })

  it('of several megabytes keeps its first piece and its length', async () => {
    const pages = Array.from({ length: 60 }, (_, i) => page(5, i % 20 === 0 ? FIRST : 0))
    const { file, separated } = await separate(...pages, END)
    const serials = serialsOf(separated)
    expect([serials.length, separated.length]).toEqual([60, file.length])
    expect(new Set(serials.slice(0, 20)).size + new Set(serials.slice(20, 40)).size).toBe(2)
    expect(new Set(serials).size).toBe(3)
    const first = (file.length - END.length) / 3
    expect(separated.subarray(0, first).equals(file.subarray(0, first))).toBe(true)
  })

  it('may have other bytes before, between and after its pieces, also a page that is cut off', async () => {
    const junk = Buffer.from('an OggS in the wrong place')
    const cut = piece.subarray(0, piece.length - 10)
    for (const [before, after] of [
      [[junk, piece], []],
      [[piece, junk], []],
      [[piece], [junk]],
      [[cut], []],
    ] as [Buffer[], Buffer[]][]) {
      const { isChained, separated } = await separate(...before, piece, ...after)
      expect(isChained).toBe(true)
      const start = concatenate(...before).length
      const serials = serialsOf(separated.subarray(start, start + piece.length))
      expect(serials.length).toBe(serialsOf(piece).length)
      expect(new Set([...serials, ...serialsOf(piece)]).size).toBe(2)
    }
  })
})

describe('an Ogg file that is not chained', () => {
  it('remains unchanged', async () => {
    const { isChained, file, separated } = await separate(piece)
    expect([isChained, separated.equals(file)]).toEqual([false, true])
  })

  const nested = Buffer.concat([page(1, FIRST), page(1)]).subarray(0, 255 * 255)

  it.each([
    [
      'a video',
      [1, 2, 1, 2].flatMap((serial, i) => (i % 2 ? [page(serial, FIRST), page(1), page(2)] : [page(serial, FIRST)])),
    ],
    ['a page within a page', [page(1, FIRST), page(1, 0, nested), page(1)]],
    ['no pages', [Buffer.alloc(20)]],
    ['nothing', []],
  ])('remains unchanged: %s', async (_, pages) => {
    const { isChained, file, separated } = await separate(...pages, END)
    expect([isChained, separated.equals(file)]).toEqual([false, true])
  })
})

it('a file with the capture pattern everywhere is given up and left as it is', async () => {
  // Each pattern looks like a page of up to 65 KB whose checksum is wrong. To check all of them takes minutes.
  const looksLikePages = Buffer.alloc(2 * 1024 * 1024, Buffer.from('OggS\xff\xff\xff', 'latin1'))
  const { isChained, file, separated } = await separate(page(5, FIRST), looksLikePages)
  expect([isChained, separated.equals(file)]).toEqual([false, true])
})

it('the end of a job ends the search for pieces', async () => {
  const path = join(directory, 'canceled')
  await writeFile(path, page(5, FIRST))
  await expect(separatePieces(path, AbortSignal.abort())).rejects.toThrow('aborted')
})
