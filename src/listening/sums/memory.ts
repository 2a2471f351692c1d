import { type Range, union } from '../../contract/ranges.ts'
import { STATS_SCOPES, type StatsScope } from '../../contract/stats_scope.ts'
import type { Difference } from '../difference.ts'
import { Cells, keysBetween } from './cells.ts'
import { COLUMNS, type Counts, countsOfDifference } from './counts.ts'
import { type Curve, isSameRecording, stepsOf, toSteps } from './curve.ts'

/** Bytes from which on the memory is folded: 32 MB, less what a table may have added when it last grew. */
const MAX_BYTES = 28e6
/** The value of a counter from which on the memory is folded; it must stay below 2³¹. */
const MAX_COUNT = 1e9
/** Sources of a subject and day, those with the most votes; the visits of all others are only in the totals. */
export const MAX_SOURCES = 100
/** Bits of a key that select a step, and a label. The memory is folded before it has more labels or subjects than fit. */
const STEP_BITS = 10
const LABEL_BITS = 12
const MAX_LABELS = 2 ** LABEL_BITS - 500
const MAX_SUBJECTS = 2 ** 19
/** Bytes of a subject or a label and of its entry in a map, without the text, estimated from the objects that V8 allocates. */
const ENTRY_BYTES = 90
/** The first columns are counted by label in another table than the rest: most labels have nothing muted, fast or downloaded. */
const OFTEN = 4
const VISITS = COLUMNS.indexOf('visits')

/** The id of the organization in its own sums. */
export const SELF = ''

/** One resource on one day. */
export interface Subject {
  /** The index of its scope in `STATS_SCOPES`. */
  scope: number
  day: number
  id: string
  /** For tracks: the duration in seconds of the recording to which the curve belongs, and its visits. */
  duration: number
  visits: number
  /** The number of sources with separate counts. */
  sources: number
}

/** Countries and sources, which have counts within those of a subject. */
export type Kind = 'country' | 'source'

export interface SubjectDetails extends Record<Kind, [text: string, counts: Counts][]> {
  /** The differences to the step before: of the visits that heard a step, and of how often it was heard again. */
  steps: [step: number, heard: number, extra: number][]
}

/** Where something is counted. A download of a ZIP has no track. */
export type Place = Pick<Difference, 'day' | 'via' | 'country'> & {
  track: string | null
  collection: string | null
  source: string | null
}

type IsNew = Pick<Difference, 'isNewVisit' | 'isNewTrackInVisit' | 'isNewCollectionInVisit'>
const NOTHING_NEW: IsNew = { isNewVisit: false, isNewTrackInVisit: false, isNewCollectionInVisit: false }

/** The sums that were not folded yet. Subjects are referred to by their index. */
export class Memory {
  readonly subjects: Subject[] = []
  /** The index of each id, by scope and day. */
  readonly #index = new Map<string, Map<string, number>>()
  readonly #labels: { kind: Kind; text: string }[] = []
  readonly #labelIndex: Record<Kind, Map<string, number>> = { country: new Map(), source: new Map() }
  #textBytes = 0
  #isLarge = false
  readonly #totals = new Cells(COLUMNS.length)
  readonly #often = new Cells(OFTEN)
  readonly #rare = new Cells(COLUMNS.length - OFTEN)
  /** Deltas between neighboring steps: of the visits that heard a step, and of its repeats within a visit. */
  readonly #curves = new Cells(2)
  readonly #refused = new Map<number, Record<string, number>>()
  readonly #votesOf: (day: number, source: string) => number

  /** `votesOf` returns the votes for a source on a day. */
  constructor(votesOf: (day: number, source: string) => number = () => 0) {
    this.#votesOf = votesOf
  }

  get bytes(): number {
    const cells = [this.#totals, this.#often, this.#rare, this.#curves].reduce((sum, { bytes }) => sum + bytes, 0)
    return cells + (this.subjects.length + this.#labels.length) * ENTRY_BYTES + this.#textBytes
  }

  get isFull(): boolean {
    const { length } = this.subjects
    return this.#isLarge || this.bytes > MAX_BYTES || length > MAX_SUBJECTS || this.#labels.length > MAX_LABELS
  }

  add(difference: Difference): void {
    this.#count(difference, countsOfDifference(difference), difference)
    this.#draw(difference)
  }

  addDownload(place: Place): void {
    const counts = COLUMNS.map((column) => Number(column === 'downloads'))
    this.#count(place, counts, NOTHING_NEW)
  }

  addRefused(day: number, reason: string, reports: number): void {
    const reasons = this.#refused.get(day) ?? {}
    reasons[reason] = (reasons[reason] ?? 0) + reports
    this.#refused.set(day, reasons)
    this.#subject('organization', day, SELF)
  }

  #count(place: Place, counts: Counts, isNew: IsNew): void {
    const { via, track, collection } = place
    this.#countFor('organization', SELF, place, counts, isNew.isNewVisit)
    if (track !== null) this.#countFor('track', track, place, counts, isNew.isNewTrackInVisit)
    if (collection !== null) this.#countFor('collection', collection, place, counts, isNew.isNewCollectionInVisit)
    if (via.scope === 'playlist') this.#countFor('playlist', via.id, place, counts, isNew.isNewVisit)
    if (via.share !== null) this.#countFor('share', via.share, place, counts, isNew.isNewVisit)
  }

  #countFor(scope: StatsScope, id: string, place: Place, counts: Counts, isNewVisit: boolean): void {
    if (!isNewVisit && counts.every((count) => count === 0)) return
    const subject = this.#subject(scope, place.day, id)
    const keys: number[] = []
    for (const kind of ['country', 'source'] as const) {
      const text = place[kind]
      const key = text === null ? null : this.#labelKey(subject, kind, text)
      if (key !== null) keys.push(key)
    }
    for (const [column, count] of counts.entries()) {
      const amount = COLUMNS[column] === 'visits' ? Number(isNewVisit) : count
      if (amount === 0) continue
      if (this.#totals.add(subject, column, amount) > MAX_COUNT) this.#isLarge = true
      for (const key of keys) {
        if (column < OFTEN) this.#often.add(key, column, amount)
        else this.#rare.add(key, column - OFTEN, amount)
      }
    }
  }

  /** Returns the index of a subject; undefined if nothing was counted for it. */
  find = (scope: number, day: number, id: string): number | undefined => this.#index.get(`${scope}/${day}`)?.get(id)

  #subject(scope: StatsScope, day: number, id: string): number {
    const at = STATS_SCOPES.indexOf(scope)
    let ids = this.#index.get(`${at}/${day}`)
    if (!ids) this.#index.set(`${at}/${day}`, (ids = new Map()))
    const found = ids.get(id)
    if (found !== undefined) return found
    const index = this.subjects.push({ scope: at, day, id, duration: 0, visits: 0, sources: 0 }) - 1
    ids.set(id, index)
    this.#textBytes += id.length
    return index
  }

  /** Returns the key of the counts of a label of a subject; null if the subject has too many sources. */
  #labelKey(index: number, kind: Kind, text: string): number | null {
    const found = this.#labelIndex[kind].get(text)
    if (found !== undefined) {
      const key = index * 2 ** LABEL_BITS + found
      if (this.#often.has(key)) return key
    }
    if (kind === 'source') {
      const subject = this.subjects[index]!
      if (subject.sources < MAX_SOURCES) subject.sources++
      else if (!this.#replaceSource(index, text)) return null
    }
    const label = found ?? this.#labels.push({ kind, text }) - 1
    if (found === undefined) {
      this.#labelIndex[kind].set(text, label)
      this.#textBytes += text.length
    }
    const key = index * 2 ** LABEL_BITS + label
    // `has` must find the label even if only rare columns are counted for it.
    this.#often.add(key, 0, 0)
    return key
  }

  /** Removes the source of a subject with the fewest votes, then visits, if it has fewer votes than a new one. Returns false if it has not. */
  #replaceSource(index: number, source: string): boolean {
    const { day } = this.subjects[index]!
    const votes = this.#votesOf(day, source)
    if (votes === 0) return false
    let [weakest, fewest, least] = [-1, votes, Infinity]
    for (const [at, { kind, text }] of this.#labels.entries()) {
      const key = index * 2 ** LABEL_BITS + at
      if (kind !== 'source' || !this.#often.has(key)) continue
      const [own, visits] = [this.#votesOf(day, text), this.#often.get(key, VISITS)]
      if (own > fewest || (own === fewest && (own === votes || visits >= least))) continue
      ;[weakest, fewest, least] = [key, own, visits]
    }
    if (weakest < 0) return false
    this.#often.remove(weakest)
    this.#rare.remove(weakest)
    return true
  }

  /** Adds what a listen heard to the curve of its track. */
  #draw({ day, track, duration, before, after, others, isNewTrackInVisit }: Difference): void {
    const index = this.#subject('track', day, track)
    const subject = this.subjects[index]!
    if (!isSameRecording(subject.duration, duration)) {
      // The file was replaced. The curve of the old one does not belong to the new one.
      const { count } = stepsOf(subject.duration)
      for (let at = 0; at <= count; at++) this.#curves.clear(index * 2 ** STEP_BITS + at)
      subject.visits = 0
    }
    subject.duration = duration
    subject.visits += Number(isNewTrackInVisit)
    const [visits, again] = [0, 1]
    const add = (ranges: Range[], column: number, sign: number) => {
      for (const [from, until] of ranges) {
        this.#curves.add(index * 2 ** STEP_BITS + from, column, sign)
        this.#curves.add(index * 2 ** STEP_BITS + until, column, -sign)
      }
    }
    const elsewhere = toSteps(others, duration)
    const draw = (listen: Difference['before'], sign: number) => {
      const own = toSteps(listen?.ranges ?? [], duration)
      add(toSteps(listen?.again ?? [], duration), again, sign)
      if (elsewhere.length === 0) return add(own, visits, sign)
      // The steps that other listens of the visit heard are heard again in this one.
      const all = union(own, elsewhere)
      add(all, visits, sign)
      add(own, again, sign)
      return add(all, again, -sign)
    }
    draw(before, -1)
    draw(after, 1)
  }

  totals = (index: number): Counts => COLUMNS.map((_, column) => this.#totals.get(index, column))

  /** Adds the curve of a track to `curve`. */
  addCurveTo(curve: Curve, index: number): void {
    curve.visits += this.subjects[index]!.visits
    for (let at = 0; at < curve.heard.length; at++) {
      const key = index * 2 ** STEP_BITS + at
      const visits = this.#curves.get(key, 0)
      curve.heard[at]! += visits
      curve.times[at]! += visits + this.#curves.get(key, 1)
    }
  }

  #labelCounts = (key: number): Counts =>
    COLUMNS.map((_, column) => (column < OFTEN ? this.#often.get(key, column) : this.#rare.get(key, column - OFTEN)))

  /** The counts of a subject by country or source. */
  labels(index: number, kind: Kind): [text: string, counts: Counts][] {
    return this.#labels.flatMap((label, at): [string, Counts][] => {
      const key = index * 2 ** LABEL_BITS + at
      return label.kind === kind && this.#often.has(key) ? [[label.text, this.#labelCounts(key)]] : []
    })
  }

  /** Returns everything of a subject but the totals, by a function that has sorted all keys once. */
  details(): (index: number) => SubjectDetails {
    const [labels, steps] = [this.#often.keys(), this.#curves.keys()]
    return (index) => {
      const details: SubjectDetails = { country: [], source: [], steps: [] }
      for (const key of keysBetween(labels, index * 2 ** LABEL_BITS, (index + 1) * 2 ** LABEL_BITS)) {
        const { kind, text } = this.#labels[key % 2 ** LABEL_BITS]!
        details[kind].push([text, this.#labelCounts(key)])
      }
      for (const key of keysBetween(steps, index * 2 ** STEP_BITS, (index + 1) * 2 ** STEP_BITS))
        details.steps.push([key % 2 ** STEP_BITS, this.#curves.get(key, 0), this.#curves.get(key, 1)])
      return details
    }
  }

  /** The reports of a day that were refused, by reason. */
  refused = (day: number): Record<string, number> => this.#refused.get(day) ?? {}
}
