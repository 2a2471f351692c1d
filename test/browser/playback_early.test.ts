import { expect, test } from 'vitest'

import { audio, create, names, open, playback, requests, settle } from './playback_setup.ts'

/** Calls to the engine before the session has loaded take effect afterwards. */

test('calls to seek and play before the session loads take effect', async () => {
  create()
  const opening = playback.open()
  await playback.seek(12)
  await playback.play()
  await opening
  await settle()
  expect([playback.time, audio().paused]).toEqual([12, false])
  expect(names()).toEqual(['play', 'trackchange', 'ready'])
})
test.each([
  ['a track by its number', () => playback.selectTrack('2'), [1, 0, false]],
  ['a track by its id, then a pause', () => (void playback.selectTrack('three'), playback.pause()), [2, 0, true]],
  ['a track, then a position in it', () => (void playback.selectTrack('2'), playback.seek(30)), [1, 30, false]],
  ['a position, then a track', () => (void playback.seek(30), playback.selectTrack('2')), [1, 0, false]],
  ['the next track, and a position in it', () => (void playback.next(), playback.seek(30)), [1, 30, true]],
  ['the next track twice', () => (void playback.next(), playback.next()), [2, 0, true]],
  ['the next track and the previous one', () => (void playback.next(), playback.previous()), [0, 0, true]],
  ['more next calls than there are tracks', () => Array.from({ length: 9 }, () => playback.next()), [2, 0, true]],
  ['a track, then the next one', () => (void playback.selectTrack('2'), playback.next()), [2, 0, false]],
  ['a position, then the previous track', () => (void playback.seek(30), playback.previous()), [0, 0, true]],
  ['a link', () => playback.goTo({ track: '3', position: 12 }), [2, 12, true]],
  ['a link into the first track', () => playback.goTo({ track: null, position: 12 }), [0, 12, true]],
  ['an unknown track', () => playback.selectTrack('nowhere'), [0, 0, true]],
  ['a link into an unknown track', () => playback.goTo({ track: 'nowhere', position: 12 }), [0, 0, true]],
])('applies a call made before the session loads: %s', async (_, ask, expected) => {
  create()
  const opening = playback.open()
  ask()
  await opening
  await settle()
  expect([playback.state.index, playback.time, audio().paused]).toEqual(expected)
  expect(names().filter((name) => name === 'trackchange')).toHaveLength(1)
  expect(requests.length).toBeLessThanOrEqual(2)
})
test('selecting an unknown track leaves the configured start unchanged', async () => {
  create({ start: { track: '2', position: 30 } })
  const opening = playback.open()
  await playback.selectTrack('nowhere')
  await opening
  await settle()
  expect([playback.state.index, playback.time, audio().paused]).toEqual([1, 30, true])
  playback.close()
  await open({ start: { track: 'nowhere', position: 30 } })
  expect([playback.state.index, playback.time]).toEqual([0, 0])
})
test('a track selected before the session loads becomes the resume point', () => {
  create()
  void playback.selectTrack('2')
  expect(playback.resumePoint).toMatchObject({ track: '2', position: 0, play: true })
})
