import type { PlayScope } from '../contract/play.ts'
import type { Range } from '../contract/ranges.ts'

/** One pass of one track through a player, as a report describes it. Times are in seconds of audio. */
export interface Listen {
  /** Heard at least once. */
  ranges: Range[]
  /** The part of `ranges` that was heard at least twice. */
  again: Range[]
  /** Seconds that ran muted; they are not in `ranges`. */
  muted: number
  /** Seconds of `ranges` and `again` that ran faster than recorded. */
  fast: number
}

/** The change of one listen by one report. */
export interface Difference {
  track: string
  /** The collection of the track and its length in seconds, as the database had them when the track was first reported. */
  collection: string
  duration: number
  /** The resource that the session plays, and the share that created it. */
  via: { scope: PlayScope; id: string; share: string | null }
  visit: string
  /** The UTC day on which the report arrived, in days since 1970. */
  day: number
  /** Two letters (ISO 3166-1); null if unknown. */
  country: string | null
  source: string | null
  /** Whether the visit gives the vote of its address to the source (sources.ts). */
  isVote: boolean
  /** Null for a new listen. */
  before: Listen | null
  after: Listen
  /** The union of the `ranges` of the other listens of the track in the visit. */
  others: Range[]
  /** The first listen of the visit, so that a visit counts once for the organization, and for the playlist or share of the session. */
  isNewVisit: boolean
  /** The first listen of the track in the visit, so that a visit counts once for a track. */
  isNewTrackInVisit: boolean
  /** The first listen of a track of the collection in the visit. */
  isNewCollectionInVisit: boolean
}
