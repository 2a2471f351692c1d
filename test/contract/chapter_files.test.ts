import { describe, expect, it } from 'vitest'

import { chapterFile } from '../../src/contract/chapter_files.ts'

/** Chapters as files (docs/edit.md#chapters). */

describe('chapters as WebVTT', () => {
  const vtt = (chapters: Parameters<typeof chapterFile>[1], duration = 20) => chapterFile('vtt', chapters, duration)

  it('have cues until the next chapter, the last one until the end of the track', () => {
    const chapters = [
      { startTime: 0, title: 'Opening' },
      { startTime: 61.5, endTime: 62.0009, title: 'Break' },
      { startTime: 3661.25 },
    ]
    expect(vtt(chapters, 1_000_000)).toBe(
      [
        'WEBVTT\n',
        '00:00:00.000 --> 00:01:01.500\nOpening\n',
        '00:01:01.500 --> 00:01:02.001\nBreak\n',
        '01:01:01.250 --> 277:46:40.000\n1:01:01\n',
      ].join('\n'),
    )
  })

  it('leave out chapters that players do not list', () => {
    const chapters = [
      { startTime: 0, title: 'One' },
      { startTime: 5, toc: false },
      { startTime: 9, title: 'Two' },
    ]
    expect(vtt(chapters)).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:09.000\nOne\n\n00:00:09.000 --> 00:00:20.000\nTwo\n')
    expect(vtt([])).toBe('WEBVTT\n')
  })

  it.each([
    ['00:00:01.000 --> 00:00:02.000', '00:00:01.000 --&gt; 00:00:02.000'],
    ['a\n\nNOTE b\r\n\r\n00:00:01.000 --> 00:00:02.000\rc\u2028d\0', 'a NOTE b 00:00:01.000 --&gt; 00:00:02.000 c d'],
    ['<c.x>R&amp;B</c><script>', '&lt;c.x&gt;R&amp;amp;B&lt;/c&gt;&lt;script&gt;'],
    ['WEBVTT', 'WEBVTT'],
    ['\n', '0:01'],
  ])('keep the title %j in one cue', (title, text) => {
    expect(vtt([{ startTime: 1, title }])).toBe(`WEBVTT\n\n00:00:01.000 --> 00:00:20.000\n${text}\n`)
  })

  it('end after their start even if the duration is not known', () => {
    for (const duration of [0, 3]) expect(vtt([{ startTime: 4 }], duration)).toContain('00:00:04.000 --> 00:00:04.001')
  })
})

it('chapters as JSON Chapters keep all fields of the format', () => {
  const chapters = [{ startTime: 0, endTime: 2.5, title: '"]]>\n', url: 'https://example.com/', toc: false }]
  expect(JSON.parse(chapterFile('json', chapters, 20))).toEqual({ version: '1.2.0', chapters })
})
