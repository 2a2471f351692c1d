import { describe, expect, test } from 'vitest'

import { end, heard, listens, move, now, pause, play, position, RUNNING, seek, STOPPED, track } from './heard_setup.ts'

/** The measurement of the seconds that were heard. playback_heard.test.ts tests the engine that feeds it. */

describe('counts positions that were reached by playback', () => {
  test('while something plays', () => {
    play(10)
    expect(listens()).toEqual([{ track: 'a', ranges: [[0, 10]] }])
  })
  test('and nothing while playback is paused', () => {
    play(2)
    pause(60)
    play(3)
    expect(listens()).toEqual([{ track: 'a', ranges: [[0, 5]] }])
  })
  test('and no position that was skipped, but everything until the seek', () => {
    play(2)
    seek(50, 0.2)
    play(3)
    expect(listens()).toEqual([
      {
        track: 'a',
        ranges: [
          [0, 2.2],
          [50, 53],
        ],
      },
    ])
  })
  test('and nothing while a slider is dragged', () => {
    play(2)
    for (let to = 10; to < 20; to++) seek(to, 0.1)
    move(0.3, position)
    play(1)
    expect(listens()).toEqual([
      {
        track: 'a',
        ranges: [
          [0, 2.1],
          [19, 20],
        ],
      },
    ])
  })
  test('and nothing while playback waits for data', () => {
    play(2)
    heard.at(now, position, STOPPED)
    move(20, position)
    seek(30)
    play(1)
    expect(listens()[0]!.ranges).toEqual([
      [0, 2],
      [30, 31],
    ])
  })
  test('and nothing before a restored position', () => {
    heard.at(now, 0, STOPPED)
    seek(90)
    play(4)
    expect(listens()).toEqual([{ track: 'a', ranges: [[90, 94]] }])
  })
  test('and no jump without an event', () => {
    play(2)
    move(0, position + 5)
    play(2)
    expect(listens()[0]!.ranges).toEqual([
      [0, 2],
      [7, 9],
    ])
  })
  test('at most a second after the last known position', () => {
    play(2)
    seek(50, 30)
    expect(listens()[0]!.ranges).toEqual([[0, 3]])
  })
  test('of a track that follows at once from its beginning', () => {
    play(2)
    end()
    track('b', 0)
    // The first position is known late, and then turns out to be too high.
    move(0.25, 0.3)
    heard.at(now, 0.45, RUNNING)
    play(3)
    expect(listens()[1]).toEqual({ track: 'b', ranges: [[0, 3.3]] })
  })
  test('across elements that hand over a little out of step', () => {
    play(5)
    move(0, position - 0.1)
    play(5)
    expect(listens()).toEqual([{ track: 'a', ranges: [[0, 9.9]] }])
  })
  test('until the end, even if the last event was a pause there', () => {
    play(5)
    move(0.2, position)
    heard.at(now, position, STOPPED)
    move(0, position + 0.25)
    end()
    expect(listens()[0]!.ranges).toEqual([[0, 5.3]])
  })
})

describe('marks', () => {
  test('seconds that are heard again, once', () => {
    play(10)
    for (let i = 0; i < 2; i++) {
      seek(4)
      play(2)
    }
    expect(listens()).toEqual([{ track: 'a', ranges: [[0, 10]], again: [[4, 6]] }])
  })
  test('muted seconds, which are not heard', () => {
    play(2)
    play(3, { isMuted: true })
    play(1)
    expect(listens()).toEqual([
      {
        track: 'a',
        ranges: [
          [0, 2],
          [5, 6],
        ],
        muted: 3,
      },
    ])
  })
  test('muted seconds of a track that follows at once', () => {
    play(1, { isMuted: true })
    heard.end(now, position)
    heard.start(now, 'b', { ...RUNNING, isMuted: true })
    move(0, 0)
    play(2, { isMuted: true })
    expect(listens()).toEqual([
      { track: 'a', ranges: [], muted: 1 },
      { track: 'b', ranges: [], muted: 2 },
    ])
  })
  test('seconds that ran faster, in seconds of the track', () => {
    play(2)
    play(3, { rate: 2 })
    play(2, { rate: 0.5 })
    expect(listens()).toEqual([{ track: 'a', ranges: [[0, 9]], fast: 6 }])
  })
})

describe('a listen', () => {
  test('ends with its track', () => {
    play(3)
    end()
    play(2)
    expect(listens()).toEqual([
      { track: 'a', ranges: [[0, 3]] },
      { track: 'a', ranges: [[0, 2]] },
    ])
  })
  test('ends when another track is chosen, which may be the same one later', () => {
    play(3)
    move(0.2, position)
    for (const id of ['b', 'a']) {
      track(id)
      play(1)
    }
    expect(listens()).toEqual([
      { track: 'a', ranges: [[0, 3.2]] },
      { track: 'b', ranges: [[0, 1]] },
      { track: 'a', ranges: [[0, 1]] },
    ])
  })
  test('has at most 40 ranges', () => {
    for (let i = 0; i < 60; i++) {
      seek(i * 10)
      play(1)
    }
    expect(listens().map(({ ranges }) => ranges!.length)).toEqual([40, 20])
  })
  test('has at most 40 ranges if the same seconds are heard again and again', () => {
    play(100)
    for (let i = 0; i < 50; i++) {
      seek((i * 2) % 100)
      play(1)
    }
    const all = listens()
    expect(all.map(({ ranges, again = [] }) => ranges!.length + again.length)).toEqual([40, 11])
  })
  test('contains no track of which nothing was heard', () => {
    for (const id of ['b', 'c', 'd']) track(id)
    play(1)
    expect(listens()).toEqual([{ track: 'd', ranges: [[0, 1]] }])
  })
})
