import type { HeardReport } from '../../contract/heard.ts'
import { lengthOf, type Range, tenth, union, without } from '../../contract/ranges.ts'

/**
 * Measures which seconds of tracks were heard. Knows no browser: the caller passes positions and the readings of a clock, both in seconds.
 * docs/listening.md describes the reports. Imports nothing that an element imports (docs/decisions/0038).
 */

/** Ranges of a track's time in seconds, ordered and disjoint. */
export type Ranges = Range[]

/** One pass of one track through the player, as in a report. */
export interface Listen {
  track: string
  /** The seconds that were heard at least once. */
  ranges: Ranges
  /** Those that were heard at least twice. */
  again: Ranges
  /** Seconds of the track that ran without sound. They are not in `ranges`. */
  muted: number
  /** Seconds of `ranges` and `again` that ran faster than recorded. */
  fast: number
}

interface Entry extends Listen {
  /** The listen in the last report that left this page. */
  sent?: Listen
  /** Whether the service has acknowledged the listen in its final form. */
  isDone?: boolean
}

/** How playback continues from a position on. */
export interface Motion {
  rate: number
  isMuted: boolean
  /** False while playback is paused, seeks, or waits for data. */
  isRunning: boolean
}

/** A report, and the functions to call after it was sent. */
export interface Report {
  token: string
  body: string
  /** Call this if the report has left the page, but there will be no response. */
  sent: () => void
  /** Call this after a successful response. */
  acknowledged: () => void
  /** Call this if there was no response, or if the report may be sent again. */
  failed: () => void
  /**
   * The service accepts no more reports of the visit. Unreported seconds go into a new visit. They are discarded if this was the first report of the visit,
   * unless the session has another token by now.
   */
  refused: () => void
  /** Returns another report with the listens that did not fit into this one; null if all did. Call `sent` or `acknowledged` first. */
  rest: (now: number) => Report | null
}

const WAITING: Motion = { rate: 1, isMuted: false, isRunning: false }
/** Seconds by which a position may differ from the clock: playback starts between two events, and a sound held back is measured late. */
const SLACK = 0.35
/** Maximum seconds after the last known position for which playback is assumed to have continued until a seek. */
const LONGEST_GUESS = 1
/** Ranges shorter than this are not reported. */
const SHORTEST = 0.05
/** Number of ranges of a listen after which the next one belongs to another listen. */
const MAX_RANGES = 40
const MAX_LISTENS = 50
/** Characters of finished listens after which a new visit starts. The service accepts 16,000, those in the next two reports included, and 1,000 listens. */
const MAX_SIZE = 8000
/** Characters of a listen without its ranges, at most. */
const LISTEN_SIZE = 60
/** Fields that a report omits if they are empty. */
const OPTIONAL = /^(again|muted|fast)$/
/** Maximum length of a report. The service accepts 4,096 bytes. */
const MAX_LENGTH = 3900

/** Seconds since the last report after which a new visit starts. The service closes a visit after 30 minutes. */
const UNREPORTED = 25 * 60
/** Minimum seconds between two reports. */
const SPACING = 20
/** Seconds after a failed attempt until the next one. */
const RETRY = 60
/** Maximum seconds between two reports while something is heard. */
const INTERVAL = 10 * 60
/** Unreported seconds after which the first report of a visit is sent, or one at a pause: with fewer, nothing long counts as played. */
const PLAY = 30
/** Number of finished listens that the service has not acknowledged after which a report is sent. */
const FINISHED = 5

const common = (ranges: Ranges, others: Ranges): Ranges => without(ranges, without(ranges, others))

const rounded = (ranges: Ranges): Ranges =>
  union(
    [],
    ranges
      .filter(([from, to]) => to - from >= SHORTEST)
      .map(([from, to]): Range => [tenth(from), tenth(to)])
      .filter(([from, to]) => from < to),
  )

/** Returns a listen with tenths of seconds. */
function encode({ track, muted, ...listen }: Listen): Listen {
  const [ranges, again] = [rounded(listen.ranges), rounded(listen.again)]
  const fast = Math.min(tenth(listen.fast), tenth(lengthOf(ranges) + lengthOf(again)))
  return { track, ranges, again, muted: tenth(muted), fast }
}

/** Returns what was heard in a listen after its last report. */
function unsentOf({ track, ranges, again, muted, fast, sent }: Entry): Entry {
  if (!sent) return { track, ranges, again, muted, fast }
  const once = without(ranges, sent.ranges)
  const twice = without(again, sent.again)
  return {
    track,
    ranges: union(once, twice),
    again: common(twice, once),
    muted: Math.max(0, muted - sent.muted),
    fast: Math.max(0, fast - sent.fast),
  }
}

const hasContent = ({ ranges, muted }: Listen) => muted >= SHORTEST || ranges.some(([a, b]) => b - a >= SHORTEST)

/** The seconds that a player has played in its current visit, and the reports about them. */
export class Heard {
  readonly #token: () => string
  readonly #source: string | undefined
  #visit: { id: string; token: string; began: number; sequence: number; first: number; size: number } | null = null
  #listens: Entry[] = []
  #track = ''
  /** The listen that still grows. */
  #open: Entry | null = null
  /** The end of the last range. */
  #until = 0
  #last: (Motion & { at: number; position: number }) | null = null
  /** Seconds that were played in all, and those of them that have left the page in reports. */
  #total = 0
  #sent = 0
  #sentAt = 0
  #triedAt = 0
  /** Seconds after the last attempt until the next one, if that failed. */
  #wait = 0
  /** Seconds since the last report that the clock does not contain. */
  #asleep = 0

  /**
   * `token` returns the current token of the session. A visit keeps its first one; so does a visit that reports seconds of the one before. `source` names
   * the page or the app.
   */
  constructor(token: () => string, source?: string) {
    this.#token = token
    this.#source = source
  }

  /** Starts a track at a position. It is not running by default, because it may have to load first. */
  start(now: number, track: string, motion = WAITING, position = 0): void {
    this.leave(now)
    this.#open = null
    this.#track = track
    this.#last = { at: now, position, ...motion }
  }

  /** Adds the time since the last call, if playback ran to this position by itself. */
  at(now: number, position: number, motion: Motion): void {
    const last = this.#last
    const by = last ? position - last.position : 0
    // A position that goes back a little is imprecise, or is that of another element with the same file.
    if (last && by < 0 && by > -LONGEST_GUESS) this.#last = { ...last, ...motion }
    else {
      if (last && by <= this.#reach(last, now, motion.rate)) this.add(now, last.position, position, last)
      this.#last = { at: now, position, ...motion }
    }
  }

  /** Playback leaves its position, by a seek or for another file: it ran until now. `isEmpty`: a track that loads still starts at its position. */
  leave(now: number, isEmpty = false): void {
    const last = this.#last
    if (isEmpty && !last?.isRunning) return
    this.#last = null
    if (!last?.isRunning) return
    const added = Math.min(now - last.at, LONGEST_GUESS)
    this.add(last.at + added, last.position, last.position + added * last.rate, last)
  }

  /** The track has ended at this position. The next time, it is another listen. */
  end(now: number, position: number): void {
    const last = this.#last
    // The last event may have been a pause at the end.
    if (last && position - last.position <= this.#reach(last, now, last.rate) + SLACK)
      this.add(now, last.position, position, last)
    this.#last = null
    this.#open = null
  }

  /** Adds a range that ran until `now`. */
  add(now: number, from: number, to: number, { rate, isMuted }: Omit<Motion, 'isRunning'>): void {
    const seconds = to - from
    if (seconds <= 0) return
    const since = now - seconds / rate
    if (!this.#visit) this.#begin(since)
    else if (this.#isForgotten(now, since) || this.#visit.size > MAX_SIZE) {
      // The session may be newer than the unreported seconds, which it then must not report.
      if (this.#total > this.#sent) this.#begin(this.#sentAt, this.#visit.token)
      else this.#begin(since)
    }
    this.#total += seconds
    const isFull = this.#open && this.#open.ranges.length + this.#open.again.length >= MAX_RANGES
    const open = this.#open && !(isFull && from !== this.#until) ? this.#open : this.#another()
    this.#until = to
    if (isMuted) open.muted += seconds
    else {
      const range: Ranges = [[from, to]]
      open.again = union(open.again, common(range, open.ranges))
      open.ranges = union(open.ranges, range)
      if (rate > 1) open.fast += seconds
    }
  }

  /** Whether the service may have closed the visit. A report that was just sent may still be acknowledged, so the visit continues for a minute after it. */
  #isForgotten(now: number, since: number): boolean {
    return since - this.#sentAt + this.#asleep > UNREPORTED && now - this.#triedAt + this.#asleep >= RETRY
  }

  /** The clock has not advanced for some seconds, because the device was asleep. */
  sleep(seconds: number): void {
    this.#asleep += seconds
  }

  /** Discards everything that was not reported. */
  forget(): void {
    this.#visit = this.#open = this.#last = null
    this.#listens = []
    this.#sent = this.#total
  }

  /** Whether it is time for a report. `isPausing`: playback has stopped. */
  isDue(now: number, isPausing: boolean): boolean {
    const unsent = this.#total - this.#sent
    const since = now - this.#triedAt
    if (!this.#visit || unsent < SHORTEST || since < SPACING) return false
    if (this.#wait) return since >= this.#wait
    const isPlay = (isPausing || this.#visit.sequence === 0) && unsent >= PLAY
    return isPlay || since >= INTERVAL || this.#listens.filter((entry) => entry !== this.#open).length >= FINISHED
  }

  /** Returns a report with as many listens as have room; null if nothing is new. Only `rest` passes the index of the first one. */
  report(now: number, from = 0): Report | null {
    const visit = this.#visit
    // The service accepts a new listen without seconds only at the end.
    this.#listens = this.#listens.filter((entry) => entry === this.#open || entry.sent || hasContent(encode(entry)))
    const entries = this.#listens.slice(from, from + MAX_LISTENS)
    if (!visit || entries.length === 0 || this.#total - this.#sent < SHORTEST) return null
    const text = (listens: Listen[]) => {
      const report: HeardReport = {
        visit: visit.id,
        sequence: visit.sequence,
        age: tenth(now - visit.began),
        first: visit.first + from,
        ...(this.#source && { source: this.#source }),
        listens,
      }
      return JSON.stringify(report, (key, value: unknown) =>
        OPTIONAL.test(key) && (value === 0 || String(value) === '') ? undefined : value,
      )
    }
    visit.sequence++
    this.#triedAt = now
    const listens = entries.map(encode)
    while (listens.length > 1 && text(listens).length > MAX_LENGTH) listens.pop()
    return { token: visit.token, body: text(listens), ...this.#after(now, entries.slice(0, listens.length), listens) }
  }

  /** Returns what the results of a report change. */
  #after(now: number, entries: Entry[], listens: Listen[]) {
    const visit = this.#visit!
    const total = this.#total
    const isWhole = entries.at(-1) === this.#listens.at(-1)
    const isFinal = entries.map((entry) => entry !== this.#open)
    const sent = (isDone: boolean) => {
      if (visit !== this.#visit) return
      this.#wait = this.#asleep = 0
      this.#sentAt = now
      if (isWhole) this.#sent = Math.max(this.#sent, total)
      for (const [i, listen] of listens.entries())
        Object.assign(entries[i]!, { sent: listen, ...(isDone && isFinal[i] && { isDone }) })
      while (this.#listens[0]?.isDone) {
        const { ranges } = this.#listens.shift()!
        visit.first++
        visit.size += LISTEN_SIZE + JSON.stringify(rounded(ranges)).length
      }
    }
    const failed = () => {
      if (visit === this.#visit) this.#wait = RETRY
    }
    const refused = () => {
      if (visit !== this.#visit) return
      const isFirst = visit.sequence === 1 && visit.token === this.#token()
      // A report that is refused again must not follow sooner than usual.
      this.#wait = isFirst ? INTERVAL : RETRY
      if (isFirst) return this.forget()
      this.#begin(this.#sentAt)
      this.#triedAt = now
    }
    const rest = (now: number) => (isWhole ? null : this.report(now, this.#listens.indexOf(entries.at(-1)!) + 1))
    return { sent: () => sent(false), acknowledged: () => sent(true), failed, refused, rest }
  }

  /** Returns the maximum seconds of the track that can have run since the last position. */
  #reach({ at, rate, isRunning }: Motion & { at: number }, now: number, rateNow: number): number {
    return (isRunning ? (now - at) * Math.max(rate, rateNow) * 1.1 : 0) + SLACK
  }

  #begin(began: number, token = this.#token()): void {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0'))
    this.#visit = { id: id.join(''), token, began, sequence: 0, first: 0, size: 0 }
    const open = this.#open
    this.#open = null
    this.#listens = this.#listens.flatMap((entry) => {
      const rest = unsentOf(entry)
      if (!hasContent(rest)) return []
      if (entry === open) this.#open = rest
      return [rest]
    })
    this.#sentAt = this.#triedAt = began
    this.#asleep = 0
  }

  #another(): Entry {
    const entry = { track: this.#track, ranges: [], again: [], muted: 0, fast: 0 }
    this.#listens.push(entry)
    this.#open = entry
    return entry
  }
}
