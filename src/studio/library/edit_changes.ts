import type { TrackChange } from '../../contract/track_batch.ts'
import type { Listed } from '../api.ts'
import { artistOf, nameOf } from '../format.ts'
import { text } from '../text.ts'

/** A track with the fields that can be edited. */
export type Editable = Pick<Listed, 'id' | 'player_title' | 'player_subtitle' | 'file_name' | 'tags'>

type Update = Extract<TrackChange, { action: 'update' }>

/** The fields that can be edited for several tracks at once, with their labels. An empty text restores the value of the file's tags. */
export const FIELDS = {
  player_title: { label: text('Title'), valueOf: (track: Editable) => nameOf(track) },
  player_subtitle: { label: text('Artist'), valueOf: (track: Editable) => artistOf(track) ?? '' },
} as const
export type Field = keyof typeof FIELDS
export const FIELD_NAMES = Object.keys(FIELDS) as Field[]

/** The texts that were typed, by field. */
export type Typed = Partial<Record<Field, string>>

/** Returns the value that all tracks have in common, or null if their values differ. */
export function commonValue(tracks: readonly Editable[], field: Field): string | null {
  const values = new Set(tracks.map(FIELDS[field].valueOf))
  return values.size === 1 ? [...values][0]! : null
}

/** Returns the changes that give the tracks the typed texts. Tracks that have them already are left out. */
export function changesOf(tracks: readonly Editable[], typed: Typed): Update[] {
  return tracks.flatMap((track) => {
    const changed = FIELD_NAMES.filter((field) => {
      const value = typed[field]?.trim()
      return value !== undefined && value !== FIELDS[field].valueOf(track)
    })
    if (changed.length === 0) return []
    const values = Object.fromEntries(changed.map((field) => [field, typed[field]!.trim() || null]))
    return [{ action: 'update', track_id: track.id, ...values }]
  })
}

/** Returns the changes that restore the fields that other changes have replaced. */
export function restoringChanges(tracks: readonly Editable[], changes: readonly Update[]): Update[] {
  const before = new Map(tracks.map((track) => [track.id, track]))
  return changes.flatMap((change) => {
    const track = before.get(change.track_id)
    if (!track) return []
    const values = Object.fromEntries(
      FIELD_NAMES.filter((field) => field in change).map((field) => [field, track[field]]),
    )
    return [{ action: 'update', track_id: track.id, ...values }]
  })
}
