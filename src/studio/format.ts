import type { Failure } from '../client/index.ts'
import { isRetriable } from '../client/upload/session.ts'
import { withoutExtension } from '../contract/facts.ts'
import type { TrackInfo } from '../contract/info.ts'
import type { Listed, Track } from './api.ts'
import { organization } from './data/organization.ts'

/** `75.4` → `1:15`, `3700` → `1:01:40`. */
export { clock } from '../elements/shared/clock.ts'

/** `4230` → `1 h 11 min`, `200` → `3 min`, `20` → `20 s`. */
export function length(seconds: number): string {
  if (seconds < 59.5) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export const percent = (fraction: number) => `${Math.round(fraction * 100)} %`

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** Formats `1234567` as `1.2 MB` and `20000000000` as `20 GB`. */
export function bytes(size: number): string {
  const step = Math.min(UNITS.length - 1, size < 1000 ? 0 : Math.floor(Math.log10(size) / 3))
  const value = size / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[step]}`
}

/** `-14.2` → `−14.2 LUFS`, with a real minus. */
export const signed = (value: number, unit: string) => `${value < 0 ? '−' : ''}${Math.abs(value).toFixed(1)} ${unit}`

/** `more`: there may be more than were counted. */
export const plural = (count: number, noun: string, more = false) =>
  `${count.toLocaleString('en')} ${more ? 'or more ' : ''}${noun}${count === 1 ? '' : 's'}`

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
export const date = (timestamp: string) => day.format(new Date(timestamp))
export const dateTime = (timestamp: string) => minute.format(new Date(timestamp))

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
export const time = (timestamp: string) => clockTime.format(new Date(timestamp))

const second = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
export const exactTime = (timestamp: string) => second.format(new Date(timestamp))
export const ago = (timestamp: string) => `${length((Date.now() - Date.parse(timestamp)) / 1000)} ago`

type Fault = Pick<Failure, 'message' | 'errors'>

/** A fault as a sentence, with the fields that are wrong. */
export function explain({ message, errors = [] }: Fault): string {
  if (errors.length === 0) return message
  return sentence(errors.map((error) => `${labelOf(error.path)} ${error.message}`).join('; '))
}

/** What is wrong with a form: by field, and under `other` what concerns none of them. */
export type Faults = Partial<Record<string, string>>

/** A fault, told apart by the fields of a form: each has its own part of it, in a sentence. */
export function faultsOf(failure: Fault, fields: readonly string[]): Faults {
  const faults: Faults = {}
  const rest = (failure.errors ?? []).filter(({ path, message }) => {
    const field = fieldOf(path)
    if (!fields.includes(field)) return true
    faults[field] ??= sentence(message)
    return false
  })
  if (rest.length > 0 || Object.keys(faults).length === 0) faults.other = explain({ ...failure, errors: rest })
  return faults
}

/** `allowed_origins.0` → `allowed_origins`. */
const fieldOf = (path: string) => path.split('.')[0] ?? ''

/** `player_subtitle` → `subtitle`. */
const labelOf = (path: string) =>
  fieldOf(path)
    .replace(/^player_/, '')
    .replaceAll('_', ' ')

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

type Named = Pick<Listed, 'player_title' | 'file_name' | 'tags'>

/** What a track's file says of itself, where the organization uses that. */
const usedTags = ({ tags }: Pick<Listed, 'tags'>): Listed['tags'] =>
  organization.get()?.uses_tags === false ? {} : tags

/** Whom a track is by: as somebody wrote it for this track, else as its file says. */
export function artistOf(track: Pick<Listed, 'player_subtitle' | 'tags'>) {
  const { artist, album_artist } = usedTags(track)
  return track.player_subtitle || artist || album_artist
}

/** A track's name as its file has it: the title that it says, else its own. */
export const fileTitle = (track: Named) => usedTags(track).title ?? withoutExtension(track.file_name)

/** A track's name: its title, else its file's. */
export const nameOf = (track: Named) => track.player_title || fileTitle(track)

export const infoOf = (track: Pick<Track, 'info'> | undefined): TrackInfo => track?.info ?? {}

/** What may help a track that failed: to try again, another file, or where none came, one at all. */
export function remedyFor({ error }: TrackInfo): 'retry' | 'replace' | 'send' {
  const code = error?.code ?? ''
  if (code === 'upload_expired') return 'send'
  return code === '' || isRetriable(code) ? 'retry' : 'replace'
}

/** Why a track failed: `info.error.message`, written for people. */
export const failureOf = (info: TrackInfo) => info.error?.message ?? 'This file could not be processed.'
