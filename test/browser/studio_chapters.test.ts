import { describe, expect, test } from 'vitest'

import { readTime, timeText } from '../../src/studio/base/clock.ts'
import { readJson, readLines } from '../../src/studio/features/track/chapter_import.ts'
import { chaptersFrom, faultsOf, newRow, rowsFrom, sorted } from '../../src/studio/features/track/chapter_rows.ts'

/** Tests the rows and the import of chapters without a browser. */

test.each([
  ['0', 0],
  ['1:05', 65],
  ['01:02:05', 3725],
  ['90:00', 5400],
  ['0:02.25', 2.25],
  ['0:02,5', 2.5],
  [' 7 ', 7],
])('the time “%s” is %d seconds', (text, seconds) => expect(readTime(text)).toBe(seconds))

test.each(['', '1:75', '1:60:00', 'x', '-1', '1:', '1:2:3:4', '1.2345'])('“%s” is not a time', (text) =>
  expect(readTime(text)).toBeNull(),
)

test('a formatted time is read back as the same number', () => {
  const times = [0, 2.5, 59.999, 65, 3725.04, 360_000]
  expect(times.map((seconds) => readTime(timeText(seconds)))).toEqual(times)
  expect([65, 2.5, 2.05].map(timeText)).toEqual(['1:05', '0:02.5', '0:02.05'])
})

test('rows become chapters in the order of their times, with the fields that are not edited', () => {
  const rest = { endTime: 4, url: 'https://example.com/' }
  const rows = [newRow('0:05', ' End '), newRow('', 'no time'), newRow('0:02', '', rest), newRow('0:00', 'Start')]
  expect(sorted(rows).map(({ title }) => title)).toEqual(['Start', '', ' End ', 'no time'])
  const chapters = [
    { startTime: 0, title: 'Start' },
    { startTime: 2, ...rest },
    { startTime: 5, title: 'End' },
  ]
  expect(chaptersFrom(rows)).toEqual(chapters)
  expect(chaptersFrom(rowsFrom(chapters))).toEqual(chapters)
  // A chapter whose start is now after its end loses the end.
  expect(chaptersFrom([newRow('0:04', 'a', rest)])).toEqual([{ startTime: 4, title: 'a', url: rest.url }])
})

test('a time that is missing, after the end or taken is an error of its row', () => {
  const rows = ['0:01', '', '1:1:1:1', '0:10', '0:01', '0:09.9'].map((time) => newRow(time))
  const faults = faultsOf(rows, 10)
  expect(rows.map(({ key }) => faults.get(key))).toEqual([
    undefined,
    'Enter a time, such as 1:05.',
    'Enter a time, such as 1:05.',
    'This is after the end of the track at 0:10.',
    'Another chapter starts at the same time.',
    undefined,
  ])
})

describe('import', () => {
  test('lines with a time and a title are chapters', () => {
    const text = '00:00 Start\r\n\n[00:30] - Theme: part 2\n1:00:00 – End\n(1:00:05.5)\n02:00:00\tTab\n'
    expect(readLines(text)).toEqual({
      chapters: [
        { startTime: 0, title: 'Start' },
        { startTime: 30, title: 'Theme: part 2' },
        { startTime: 3600, title: 'End' },
        { startTime: 3605.5 },
        { startTime: 7200, title: 'Tab' },
      ],
    })
  })

  test.each([
    ['0:00 a\n\nThe theme', 'Line 3 does not start with a time, such as 1:05: The theme'],
    ['0:00 a\n12 monkeys', 'Line 2 does not start with a time, such as 1:05: 12 monkeys'],
    ['0:00 a\n0:99 b', 'Line 2 does not start with a time, such as 1:05: 0:99 b'],
    [' \n', 'No chapters were found.'],
    ['0:01 x\n'.repeat(501), 'A track can have at most 500 chapters.'],
  ])('the lines %j are refused', (text, problem) => expect(readLines(text)).toEqual({ problem }))

  test('a file in the format JSON Chapters is read with the fields that are stored', () => {
    const chapter = {
      startTime: 1.5,
      endTime: 2,
      title: 'a',
      img: 'https://a.example/i',
      url: 'https://a.example/',
      toc: false,
    }
    const text = JSON.stringify({
      version: '1.2.0',
      title: 'x',
      chapters: [{ ...chapter, location: {} }, { startTime: 3 }],
    })
    expect(readJson(text)).toEqual({ chapters: [chapter, { startTime: 3 }] })
  })

  test.each([
    ['no json', 'This is not a JSON Chapters file.'],
    ['[]', 'This is not a JSON Chapters file.'],
    ['{"chapters":{}}', 'This is not a JSON Chapters file.'],
    ['{"chapters":[]}', 'No chapters were found.'],
    ['{"chapters":[{"startTime":0},{"title":"b"}]}', 'Chapter 2 of the file has no valid start time.'],
    ['{"chapters":[{"startTime":"0"}]}', 'Chapter 1 of the file has no valid start time.'],
    ['{"chapters":[{"startTime":-1}]}', 'Chapter 1 of the file has no valid start time.'],
  ])('the file %j is refused', (text, problem) => expect(readJson(text)).toEqual({ problem }))
})
