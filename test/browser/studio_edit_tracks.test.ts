import { expect, test } from 'vitest'

import { changesOf, commonValue, type Editable, restoringChanges } from '../../src/studio/library/edit_changes.ts'

/** Tests which changes the sheet for several tracks sends. */

const aTrack = (id: string, player_title: string | null, artist: string): Editable => ({
  id,
  player_title,
  player_subtitle: null,
  file_name: `${id}.mp3`,
  tags: { artist },
})

test('a field in which tracks differ has no common value, and stays unless it is typed in', () => {
  const tracks = [aTrack('a', 'One', 'Ines'), aTrack('b', null, 'Ines')]
  expect([commonValue(tracks, 'player_title'), commonValue(tracks, 'player_subtitle')]).toEqual([null, 'Ines'])
  expect(changesOf(tracks, {})).toEqual([])
  expect(changesOf(tracks, { player_subtitle: 'Vera ' })).toEqual([
    { action: 'update', track_id: 'a', player_subtitle: 'Vera' },
    { action: 'update', track_id: 'b', player_subtitle: 'Vera' },
  ])
})

test('a track that has the typed value already is not changed, and an empty text restores the value of the tags', () => {
  const tracks = [aTrack('a', 'One', 'Ines'), aTrack('b', 'Two', 'Ines')]
  expect(changesOf(tracks, { player_title: 'One' })).toEqual([{ action: 'update', track_id: 'b', player_title: 'One' }])
  expect(changesOf(tracks, { player_title: '' })).toEqual([
    { action: 'update', track_id: 'a', player_title: null },
    { action: 'update', track_id: 'b', player_title: null },
  ])
})

test('the changes that undo others restore only the fields that these replaced', () => {
  const tracks = [aTrack('a', 'One', 'Ines'), aTrack('b', null, 'Ines')]
  const changes = changesOf(tracks, { player_title: 'Same' })
  expect(restoringChanges(tracks, changes)).toEqual([
    { action: 'update', track_id: 'a', player_title: 'One' },
    { action: 'update', track_id: 'b', player_title: null },
  ])
})
