import { expect, test } from 'vitest'

import {
  entriesOf,
  type FoundTrack,
  idsOf,
  insertionOf,
  merged,
  movedTo,
} from '../../src/studio/features/playlists/entries.ts'

/** Tests how changes to a playlist are merged and undone. */

const track = (id: string) => ({ id }) as FoundTrack
/** Returns the entries of a playlist; each letter is a track. */
const list = (letters: string) => entriesOf(letters.split(' ').filter(Boolean).map(track))
const pick = (from: string, keys: string) => {
  const entries = list(from)
  return keys.split(' ').map((wanted) => entries.find(({ key }) => key === wanted)!)
}
const show = (entries: Parameters<typeof idsOf>[0]) => idsOf(entries).join(' ')

test('a track that occurs twice has two keys, and an added one has another', () => {
  expect(list('a b a').map(({ key }) => key)).toEqual(['a#0', 'b#0', 'a#1'])
  const left = pick('a b a', 'b#0 a#1')
  expect(entriesOf([track('a')], left).map(({ key }) => key)).toEqual(['a#2'])
})

test('several entries are moved together, in their order', () => {
  const to = (place: number) => show(movedTo(list('a b c d e'), new Set(['b#0', 'd#0']), place))
  expect([0, 2, 5].map(to)).toEqual(['b d a c e', 'a b d c e', 'a c e b d'])
})

test.each([
  ['both added', 'a b', 'a x b', 'a b y', 'a x b y'],
  ['both removed', 'a b c d', 'a c d', 'a b c', 'a c'],
  ['both added the same track', 'a b', 'a b x', 'a b x', 'a b x'],
  ['one has moved a track and the other has added one', 'a b c', 'c a b', 'a b x c', 'c a b x'],
  ['one has removed what the other has moved', 'a b c', 'b c', 'c a b', 'c b'],
  ['one has removed the track after which the other has added', 'a b c', 'a b x c', 'a c', 'a x c'],
  ['one has emptied the list', 'a b c', '', 'a b c x', 'x'],
  ['the list was empty', '', 'x y', 'a b', 'x y a b'],
])('keeps both changes: %s', (_, base, mine, theirs, result) => {
  expect(show(merged(list(base), list(mine), list(theirs)))).toBe(result)
})

test('a removal and a move are undone although another track was added later', () => {
  const undo = (before: string, after: string, now: string) => show(merged(list(after), list(before), list(now)))
  expect(undo('a b c', 'a c', 'a c x')).toBe('a b c x')
  expect(undo('a b c', 'c a b', 'c a b x')).toBe('a b x c')
  expect(undo('a b', 'a x y b', 'a x y b z')).toBe('a b z')
})

test('an insertion is recognized, so that the request needs only the new tracks', () => {
  const found = (before: string, after: string) => insertionOf(list(before), list(after))
  expect(found('a b', 'a b x y')).toEqual({ position: 2, count: 2 })
  expect(found('a b', 'x a b')).toEqual({ position: 0, count: 1 })
  expect(found('', 'x')).toEqual({ position: 0, count: 1 })
  expect([found('a b', 'x b a'), found('a b', 'b'), found('a b', 'b a'), found('a b', 'a b')]).toEqual([
    null,
    null,
    null,
    null,
  ])
})
