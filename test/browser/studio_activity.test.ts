import { expect, test } from 'vitest'

import type { TonearmEvent } from '../../src/contract/event.ts'
import { FILTERS, manyOf, PATTERNS, typesOf } from '../../src/studio/features/activity/event.ts'
import { groupEvents, subjectCount } from '../../src/studio/features/activity/event_groups.ts'

/** Tests how the page Activity groups events. */

let count = 0
/** An event at a local time of November 2026. */
const at = (time: string, type: string, subject: string, more: Partial<TonearmEvent> = {}) =>
  ({
    id: String(count++),
    type,
    subject,
    actor: null,
    timestamp: new Date(`2026-11-${time}`).toISOString(),
    data: {},
    ...more,
  }) as TonearmEvent
const album = { collection: { id: 'a', title: 'Album' } }

const shown = (events: TonearmEvent[]) =>
  groupEvents(events).map(({ groups }) =>
    groups.map(({ events, collection }) => [events[0]!.type, events.length, collection?.title]),
  )

test('the tracks of a collection are one group even if other events lie between them', () => {
  const events = [
    at('25T14:35', 'track.ready', 'track:3', album),
    at('25T14:34', 'cover.ready', 'track:2'),
    at('25T14:34', 'track.ready', 'track:2', album),
    at('25T14:33', 'cover.ready', 'track:3'),
    at('25T14:32', 'track.ready', 'track:9', { collection: { id: 'b', title: 'Other' } }),
    at('25T14:32', 'track.ready', 'track:1', album),
  ]
  expect(shown(events)).toEqual([
    [
      ['track.ready', 3, 'Album'],
      ['cover.ready', 2, 'Album'],
      ['track.ready', 1, 'Other'],
    ],
  ])
})

test('a group ends after a pause of 15 minutes, with the day, and with another actor', () => {
  const changed = (time: string, actor: string) => at(time, 'playlist.updated', 'playlist:1', { actor })
  expect(
    shown([
      changed('25T00:10', 'api_key:1'),
      changed('25T00:01', 'api_key:2'),
      changed('25T00:00', 'api_key:1'),
      changed('24T23:59', 'api_key:1'),
      changed('24T23:44', 'api_key:1'),
      changed('24T23:28', 'api_key:1'),
    ]),
  ).toEqual([
    [
      ['playlist.updated', 2, undefined],
      ['playlist.updated', 1, undefined],
    ],
    [
      ['playlist.updated', 2, undefined],
      ['playlist.updated', 1, undefined],
    ],
  ])
})

test('several events are named by the number of their subjects, or by the number of times', () => {
  expect(manyOf('track.ready', 13, 12)).toBe('12 tracks ready')
  expect(manyOf('track.updated', 3, 1)).toBe('Track changed, 3 times')
  expect(manyOf('share.created', 2, 2)).toBe('Share created, 2 times')
  expect(subjectCount([at('25T10:00', 'track.ready', 'track:1'), at('25T10:00', 'track.ready', 'track:1')])).toBe(1)
})

test('the filters lead to every type that can be chosen', () => {
  const patterns = FILTERS.flatMap(([group]) => [group, ...typesOf(group)])
  expect(patterns.toSorted()).toEqual(PATTERNS.toSorted())
})
