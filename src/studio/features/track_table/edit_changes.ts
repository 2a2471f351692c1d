import type { TrackChange } from '../../../contract/track_batch.ts'
import type { Listed } from '../../base/api.ts'
import { text } from '../../base/text.ts'
import { artistOf, nameOf } from '../../data/track_text.ts'

/** A track with the fields that can be edited. `edited_tags` is only known on the page of a track. */
export type Editable = Pick<Listed, 'id' | 'player_title' | 'player_subtitle' | 'file_name' | 'tags' | 'version'> & {
  edited_tags?: string[]
}

export type Update = Extract<TrackChange, { action: 'update' }>
type TagName = keyof NonNullable<Update['tags']>

interface FieldOf {
  label: string
  valueOf: (track: Editable) => string
  /** The tag that the field sets; without one, it sets the field of the track with its name. */
  tag?: TagName
  pattern?: RegExp
}

const tag = (name: TagName, label: string, pattern?: RegExp): FieldOf => ({
  label,
  tag: name,
  valueOf: ({ tags }) => String(tags[name] ?? ''),
  ...(pattern && { pattern }),
})
const NUMBER = /^\d{0,4}$/

/** The fields that can be edited for several tracks at once, with their labels. An empty title or artist restores the value of the file's tags. */
export const FIELDS = {
  player_title: { label: text('Title'), valueOf: (track) => nameOf(track) },
  player_subtitle: { label: text('Artist'), valueOf: (track) => artistOf(track) ?? '' },
  album: tag('album', text('Album')),
  album_artist: tag('album_artist', text('Album artist')),
  track_number: tag('track_number', text('Number'), NUMBER),
  disc_number: tag('disc_number', text('Disc'), NUMBER),
  date: tag('date', text('Date'), /^(\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?$/),
  genre: tag('genre', text('Genre')),
} satisfies Record<string, FieldOf>
export type Field = keyof typeof FIELDS
export const FIELD_NAMES = Object.keys(FIELDS) as Field[]
const fieldOf = (field: Field): FieldOf => FIELDS[field]

/** The texts that were typed, by field. */
export type Typed = Partial<Record<Field, string>>

/** Whether a typed text can be saved. */
export const isValid = (field: Field, typed: string) => fieldOf(field).pattern?.test(typed.trim()) !== false

/** Returns the value that all tracks have in common, or null if their values differ. */
export function commonValue(tracks: readonly Editable[], field: Field): string | null {
  const values = new Set(tracks.map(FIELDS[field].valueOf))
  return values.size === 1 ? [...values][0]! : null
}

/** Returns the value of a tag in a request. A tag that was cleared returns to the file's if it was set, and is hidden otherwise. */
function tagValue(name: TagName, typed: string, { edited_tags }: Editable): string | number | null {
  if (typed === '' && edited_tags?.includes(name)) return null
  return name.endsWith('_number') ? Number(typed) : typed
}

/** Returns the part of an update that sets fields to these values. */
function valuesOf(values: [Field, string | number | null][]): Omit<Update, 'action' | 'track_id'> {
  const tags = values.flatMap(([field, value]) => (fieldOf(field).tag ? [[field, value] as const] : []))
  return {
    ...Object.fromEntries(values.filter(([field]) => !fieldOf(field).tag)),
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
  }
}

/** Returns the changes that give the tracks the typed texts. Tracks that have them already are left out. */
export function changesOf(tracks: readonly Editable[], typed: Typed): Update[] {
  return tracks.flatMap((track) => {
    const changed = FIELD_NAMES.filter((field) => {
      const value = typed[field]?.trim()
      return value !== undefined && value !== FIELDS[field].valueOf(track)
    })
    if (changed.length === 0) return []
    const values = changed.map((field): [Field, string | number | null] => {
      const value = typed[field]!.trim()
      const { tag } = fieldOf(field)
      return [field, tag ? tagValue(tag, value, track) : value || null]
    })
    return [{ action: 'update', track_id: track.id, version: track.version, ...valuesOf(values) }]
  })
}

/** The fields that an update changes. */
export const fieldsOf = (change: Update) =>
  FIELD_NAMES.filter((field) => field in change || (change.tags && field in change.tags))

/** Returns the changes that restore the fields that other changes have replaced. */
export function restoringChanges(tracks: readonly Editable[], changes: readonly Update[]): Update[] {
  const before = new Map(tracks.map((track) => [track.id, track]))
  return changes.flatMap((change) => {
    const track = before.get(change.track_id)
    if (!track) return []
    const values = fieldsOf(change).map((field): [Field, string | number | null] => {
      const { tag } = fieldOf(field)
      if (!tag) return [field, track[field as 'player_title']]
      return [field, track.edited_tags?.includes(tag) === false ? null : (track.tags[tag] ?? null)]
    })
    return [{ action: 'update', track_id: track.id, ...valuesOf(values) }]
  })
}

/** A track that someone else has changed, with the fields that both have changed. */
export interface Conflict {
  change: Update
  current: Editable
  fields: Field[]
}

/**
 * Compares a track as it was read with the track as it is now. Returns the change to send again, and the fields that someone else has changed and that the
 * change would overwrite.
 */
export function conflictOf(before: Editable, current: Editable, change: Update): Conflict {
  const isChanged = (field: Field) => FIELDS[field].valueOf(before) !== FIELDS[field].valueOf(current)
  return { change: { ...change, version: current.version }, current, fields: fieldsOf(change).filter(isChanged) }
}
