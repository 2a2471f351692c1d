import { expect, test } from 'vitest'

import {
  changesOf,
  commonValue,
  conflictOf,
  type Editable,
  isValid,
  restoringChanges,
} from '../../src/studio/features/track_table/edit_changes.ts'

/** Tests which changes the sheet for several tracks sends. */

const aTrack = (id: string, player_title: string | null, artist: string): Editable => ({
  id,
  player_title,
  player_subtitle: null,
  file_name: `${id}.mp3`,
  tags: { artist },
  version: 1,
})

test('a field in which tracks differ has no common value, and stays unless it is typed in', () => {
  const tracks = [aTrack('a', 'One', 'Ines'), aTrack('b', null, 'Ines')]
  expect([commonValue(tracks, 'player_title'), commonValue(tracks, 'player_subtitle')]).toEqual([null, 'Ines'])
  expect(changesOf(tracks, {})).toEqual([])
  expect(changesOf(tracks, { player_subtitle: 'Vera ' })).toEqual([
    { action: 'update', track_id: 'a', version: 1, player_subtitle: 'Vera' },
    { action: 'update', track_id: 'b', version: 1, player_subtitle: 'Vera' },
  ])
})

test('a track that has the typed value already is not changed, and an empty text restores the value of the tags', () => {
  const tracks = [aTrack('a', 'One', 'Ines'), aTrack('b', 'Two', 'Ines')]
  expect(changesOf(tracks, { player_title: 'One' })).toEqual([
    { action: 'update', track_id: 'b', version: 1, player_title: 'One' },
  ])
  expect(changesOf(tracks, { player_title: '' })).toEqual([
    { action: 'update', track_id: 'a', version: 1, player_title: null },
    { action: 'update', track_id: 'b', version: 1, player_title: null },
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

test('tags are sent as tags: numbers as numbers, and a cleared tag is hidden unless it was set by a person', () => {
  const track = { ...aTrack('a', 'One', 'Ines'), tags: { artist: 'Ines', album: 'Tides', genre: 'Jazz' } }
  const typed = { album: ' Ebb ', track_number: '7', genre: '' }
  const tagsOf = (edited_tags?: string[]) =>
    changesOf([{ ...track, ...(edited_tags && { edited_tags }) }], typed)[0]?.tags
  expect(tagsOf()).toEqual({ album: 'Ebb', track_number: 7, genre: '' })
  expect(tagsOf(['genre'])).toEqual({ album: 'Ebb', track_number: 7, genre: null })
  const back = (edited_tags: string[]) =>
    restoringChanges([{ ...track, edited_tags }], changesOf([{ ...track, edited_tags }], typed))[0]?.tags
  expect(back(['genre'])).toEqual({ album: null, track_number: null, genre: 'Jazz' })
})

test('a number and a date that the service refuses are invalid', () => {
  expect(['7', '', '12345', 'a', '-1'].map((text) => isValid('track_number', text))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(['1959', '1959-08-17', '1959-13', 'May'].map((text) => isValid('date', text))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('a conflict has only the fields that both have changed, and the change gets the new version', () => {
  const before = aTrack('a', 'One', 'Ines')
  const [change] = changesOf([before], { player_title: 'Mine', genre: 'Dub' })
  const current = { ...aTrack('a', 'One', 'Vera'), version: 2 }
  expect(conflictOf(before, current, change!)).toMatchObject({
    fields: [],
    change: { version: 2, player_title: 'Mine' },
  })
  expect(conflictOf(before, { ...current, player_title: 'Theirs' }, change!).fields).toEqual(['player_title'])
})
