import { createHash } from 'node:crypto'

import type { Chapters } from '../../src/contract/chapters.ts'
import { MAX_SOURCE_URL, MAX_STRING } from '../../src/contract/facts.ts'
import type { TagsUpdate } from '../../src/contract/tags.ts'
import { oneLine } from '../../src/contract/text.ts'
import type { TrackCreate } from '../../src/contract/track_create.ts'
import { Fault } from '../backup/service.ts'
import type { Downloaded } from './download.ts'
import { refusalOf } from './download.ts'

/** The plan of an import, which is read from its source before anything is written: the tracks to create, in their order, and their collections. */

/** Loads a file; throws a `DownloadFault`. */
export type Load<T = Downloaded> = (signal: AbortSignal) => Promise<T>

export interface PlannedCollection {
  /** `organization_index` by which another run finds it again. */
  index: string
  title: string
  player_subtitle?: string
  metadata?: Record<string, unknown>
  cover?: Load
  /** The id of an existing collection, which is used as it is. */
  id?: string
}

export interface PlannedTrack {
  /** Position of the item in its source, from 1. */
  number: number
  /** Names the item in messages: its number in the source and its title. */
  label: string
  /** `organization_index` by which another run finds it again. */
  index: string
  collection: PlannedCollection
  body: Omit<TrackCreate, 'collection_id' | 'organization_index'> & { source_url: string }
  tags?: TagsUpdate
  chapters?: Load<Chapters>
  cover?: Load
  /** Faults of the item that do not prevent its import. */
  notes: string[]
}

export interface Refusal {
  label: string
  reason: string
}

export interface Plan {
  tracks: PlannedTrack[]
  refused: Refusal[]
}

/** Returns the name of an item for messages, on one line. */
const labelOf = (number: number, title: string) => {
  const line = oneLine(title)
  return `${number}${line ? ` "${line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line}"` : ''}`
}

/** Characters that `indexOf` leaves for a prefix. */
const MAX_INDEX = MAX_STRING - 20

/** Returns an identifier as an `organization_index`: itself, or its hash if it is too long. */
export const indexOf = (identifier: string) =>
  identifier.length <= MAX_INDEX && identifier === oneLine(identifier)
    ? identifier
    : `sha256:${createHash('sha256').update(identifier).digest('hex')}`

/** Parameters of signed URLs, which differ each time: those of S3, Google, CloudFront and Azure, and common names. */
const SIGNATURES =
  /^(x-(amz|goog)-.*|signature|sig|expires?|exp|policy|key-pair-id|(aws|google)access(key)?id|token|hmac|hash|s(e|v|p|r|t)|sk(o|t)id|sk(t|e|s|v))$/i

/** Returns the `organization_index` of a file that only its URL identifies. The query may be a secret, so it is not part of it, except as a hash. */
export function indexOfUrl(text: string): string {
  const url = new URL(text)
  const kept = [...url.searchParams].filter(([name]) => !SIGNATURES.test(name))
  const query =
    kept.length > 0 ? `?${createHash('sha256').update(JSON.stringify(kept)).digest('hex').slice(0, 16)}` : ''
  return indexOf(url.origin + url.pathname + query)
}

/** Checks the audio's URL by the rules of the service. Throws a `Fault` if it would refuse the URL. */
export function checkSource(url: string, base_url: string): void {
  if (url.length > MAX_SOURCE_URL) throw new Fault(`its URL is longer than ${MAX_SOURCE_URL} characters`)
  const refusal = refusalOf(url, base_url)
  if (refusal) throw new Fault(`its URL ${refusal}`)
}

/** Adds items to a plan. An item that throws a `Fault` is refused, and so is one with the identifier of another one in the same collection. */
export class Planner implements Plan {
  readonly tracks: PlannedTrack[] = []
  readonly refused: Refusal[] = []
  readonly #taken = new Map<string, PlannedTrack>()

  add(number: number, title: string, read: () => Omit<PlannedTrack, 'number' | 'label'>): void {
    const label = labelOf(number, title)
    try {
      const track = { number, label, ...read() }
      const key = JSON.stringify([track.collection.index, track.index])
      const same = this.#taken.get(key)
      if (same) throw new Fault(`it has the same identifier as ${same.label}`)
      this.#taken.set(key, track)
      this.tracks.push(track)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.refused.push({ label, reason: error.message })
    }
  }
}

/** Returns the name of the file at the end of a URL; empty if it has none. */
export function fileNameOf(url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return oneLine(decodeURIComponent(name))
  } catch {
    return oneLine(name)
  }
}
