import type { HeardReport } from '../../contract/heard.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { type CopiedRow, copyRows, insertRows } from './copy.ts'
import { recordDay } from './day_event.ts'
import type { Refusal } from './difference.ts'
import { reportFold, type Shard } from './fold_times.ts'
import { Progress } from './progress.ts'
import { type Download, Segments } from './segments.ts'
import { growShards } from './shards.ts'
import { Sums } from './sums.ts'
import { createTracks } from './tracks.ts'
import { type Accepted, MAX_OPEN_VISITS, type SessionFacts, type TrackFacts, Visits } from './visits.ts'

/**
 * The listening of an organization, or of a shard of it, in a Durable Object (docs/decisions/0102). The open visits and the sums since the last fold are in
 * memory. Every report is in a segment before it is acknowledged, and the segments are read when the object starts.
 */

/** Milliseconds for which a report waits for others, unless no other report arrived for as long before it. */
const GROUP = 500
/** Milliseconds after the last report until the sums are folded. */
const QUIET = 3600_000
const DAY = 24 * QUIET
/** Maximum characters of all segments, which are read when the object starts. */
const MAX_LOG = 48_000_000
/** The load from which an organization gets twice as many shards: reports per minute, or open visits. */
const HOT = { reports: 18_000, visits: MAX_OPEN_VISITS / 2 }
/** Milliseconds after which the number of shards may grow again. Sessions that exist keep theirs for up to a day. */
const GROWTH_PAUSE = 6 * QUIET

/** A report with the facts of its token. */
export interface HeardCall {
  organization_id: string
  shard: number
  report: HeardReport
  session: SessionFacts
  shards: number
  country: string | null
  /** The listener whose progress is kept; null if none is. */
  listener?: string | null
}
/** `gone`: the organization was deleted. */
export type HeardOutcome = 'ok' | 'gone'

interface Group {
  lines: string[]
  done: Promise<void>
}

export class ListeningEngine {
  readonly #ctx: DurableObjectState
  readonly #env: Env
  /** The name of this shard; null before the first report. */
  #self: Shard | null
  #segments: Segments
  #sums: Sums
  #progress: Progress
  #visits = new Visits()
  #tracks: ReturnType<typeof createTracks> | null = null
  /** The reports that wait for their row. */
  #group: Group | null = null
  /** Refused reports that are not in the log yet, by day and reason. */
  #refused = new Map<string, number>()
  #lastReport = 0
  #day = 0
  #hasAlarm = false
  #load = { minute: 0, reports: 0, shards: 1, grown_at: 0 }

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#env = env
    const { sql } = ctx.storage
    sql.exec('create table if not exists self (organization_id text not null, shard integer not null)')
    const [self] = sql
      .exec<Shard & Record<string, SqlStorageValue>>('select organization_id, shard from self')
      .toArray()
    this.#self = self ?? null
    this.#segments = new Segments(sql)
    this.#sums = new Sums(sql)
    this.#progress = new Progress(sql)
    this.#segments.read({
      visit: (visit) => this.#visits.restore(visit),
      report: (report, factsOf) => this.#apply(report, factsOf),
      refused: this.#sums.refuse,
      download: this.#sums.download,
    })
  }

  /** Counts a report. Resolves once it is stored. */
  async heard({ report, session, shards, country, listener = null, ...self }: HeardCall): Promise<HeardOutcome> {
    // A repeated report is acknowledged when the first one is.
    if (this.#visits.isOld(report)) {
      await this.#group?.done
      return 'ok'
    }
    this.#tracks ??= createTracks(this.#env.DB, self.organization_id)
    const tracks = await this.#tracks.find(new Set(report.listens.map(({ track }) => track)))
    if (!tracks) return 'gone'
    const now = Date.now()
    this.#visits.close(now)
    if (this.#day !== Math.floor(now / DAY)) this.#startDay(now)
    this.#identify(self)
    await this.#measure(now, shards)
    const checked = this.#visits.isOld(report) ? null : this.#visits.check(report, session, country, tracks, now)
    if (checked === null) await this.#group?.done
    else if (typeof checked === 'string') this.#refuse(checked, now)
    else await this.#store(checked, (id) => tracks.get(id)!, now, listener)
    await this.#schedule(now)
    return 'ok'
  }

  #identify({ organization_id, shard }: Shard): void {
    if (this.#self) return
    this.#ctx.storage.sql.exec('insert into self values (?, ?)', organization_id, shard)
    this.#self = { organization_id, shard }
  }

  #apply(report: Accepted, factsOf: (track: string) => TrackFacts, listener: string | null = null): void {
    this.#visits.apply(report, factsOf, (difference) => {
      this.#sums.add(difference)
      if (listener !== null) this.#progress.add(listener, difference, report.at)
    })
  }

  #refuse(reason: Refusal, now: number): void {
    const day = Math.floor(now / DAY)
    this.#sums.refuse(day, reason, 1)
    const key = `${day} ${reason}`
    this.#refused.set(key, (this.#refused.get(key) ?? 0) + 1)
  }

  /** Applies a report, and writes it. */
  #store(
    report: Accepted,
    factsOf: (track: string) => TrackFacts,
    now: number,
    listener: string | null,
  ): Promise<void> {
    this.#apply(report, factsOf, listener)
    return this.#log(this.#segments.linesOf(report, factsOf), now)
  }

  /** Counts a download. Resolves once it is stored. */
  async download(self: Shard, place: Download): Promise<void> {
    const now = Date.now()
    this.#identify(self)
    this.#sums.download(place)
    await this.#log([this.#segments.downloadLine(place)], now)
    await this.#schedule(now)
  }

  /** Writes lines: at once if they are alone, otherwise in one row with all others of half a second. */
  #log(lines: string[], now: number): Promise<void> {
    const isAlone = now - this.#lastReport >= GROUP
    this.#lastReport = now
    if (this.#group) {
      this.#group.lines.push(...lines)
      return this.#group.done
    }
    if (isAlone) {
      this.#write(lines)
      return Promise.resolve()
    }
    const group: Group = {
      lines,
      done: scheduler.wait(GROUP).then(() => {
        // A fold has stored these lines already.
        if (this.#group !== group) return undefined
        this.#group = null
        return this.#write(group.lines)
      }),
    }
    this.#group = group
    return group.done
  }

  /** Writes lines. If that fails, the memory contains more than the log, so the object starts again. */
  #write(lines: string[]): void {
    try {
      const refused = [...this.#refused].map(([key, reports]) => {
        const [day, reason] = key.split(' ')
        return this.#segments.refusedLine(Number(day), reason!, reports)
      })
      this.#segments.write([...lines, ...refused])
      this.#refused.clear()
      if (this.#sums.isFull || this.#segments.length > MAX_LOG) this.fold()
    } catch (error) {
      this.#fail('listening_write_failed', error)
    }
  }

  #fail(event: string, error: unknown): never {
    log('error', event, { ...this.#self, error: describeError(error) })
    this.#ctx.abort(event)
    throw error
  }

  /** Moves the sums to their rows, and keeps only the open visits in the log. */
  fold(): void {
    this.#visits.close(Date.now())
    try {
      this.#ctx.storage.transactionSync(() => {
        this.#sums.fold()
        this.#segments.replace(this.#visits.values())
      })
    } catch (error) {
      this.#fail('listening_fold_failed', error)
    }
    this.#refused.clear()
    this.#group = null
  }

  #startDay(now: number): void {
    const isFirst = this.#day === 0
    this.#day = Math.floor(now / DAY)
    if (!isFirst && !this.#sums.isEmpty) this.fold()
  }

  /** Sets the alarm of the next fold, and announces the fold to the database, which knows when one is overdue. */
  async #schedule(now: number): Promise<void> {
    if (this.#hasAlarm) return
    this.#hasAlarm = true
    const midnight = (Math.floor(now / DAY) + 1) * DAY
    const next = Math.min(now + QUIET, midnight)
    if (((await this.#ctx.storage.getAlarm()) ?? Infinity) > next) await this.#ctx.storage.setAlarm(next)
    await this.#announce(midnight)
  }

  async #announce(due_at: number): Promise<void> {
    if (!this.#self) return
    await reportFold(this.#env.DB, this.#self, due_at).catch((error: unknown) => {
      log('error', 'listening_fold_not_reported', { ...this.#self, error: describeError(error) })
    })
  }

  #statsOf = (day: number) => this.#sums.stats({ scope: 'organization', id: '', from: day, to: day, by: 'day' })

  /** Folds when the last report is an hour old, and at midnight (UTC). */
  async alarm(): Promise<void> {
    const now = Date.now()
    const day = Math.floor(now / DAY)
    if (now - this.#lastReport >= QUIET || this.#day !== day) this.fold()
    this.#day = day
    this.#hasAlarm = !this.#sums.isEmpty || this.#visits.size > 0
    const midnight = (day + 1) * DAY
    const quiet = Math.max(this.#lastReport, now - QUIET / 2) + QUIET
    if (this.#hasAlarm) await this.#ctx.storage.setAlarm(Math.min(quiet, midnight))
    else if (this.#statsOf(day).rows.length > 0) await this.#ctx.storage.setAlarm(midnight)
    await this.#announce(this.#hasAlarm ? midnight : 0)
    if (this.#self) await recordDay(this.#env, this.#self, day - 1, this.#statsOf(day - 1))
  }

  /** Counts the load, and gives the organization more shards if it is high. New sessions use them. */
  async #measure(now: number, shards: number): Promise<void> {
    const minute = Math.floor(now / 60_000)
    if (minute !== this.#load.minute) this.#load = { ...this.#load, minute, reports: 0, shards: 1 }
    this.#load.shards = Math.max(this.#load.shards, shards)
    const isHot = ++this.#load.reports > HOT.reports || this.#visits.size > HOT.visits
    if (!isHot || !this.#self || now - this.#load.grown_at < GROWTH_PAUSE) return
    this.#load.grown_at = now
    await growShards(this.#env.DB, this.#self.organization_id, this.#load.shards)
  }

  readonly stats: Sums['stats'] = (query) => this.#sums.stats(query)
  readonly top: Sums['top'] = (query) => this.#sums.top(query)
  readonly counts: Sums['counts'] = (query) => this.#sums.counts(query)
  readonly curve: Sums['curve'] = (query) => this.#sums.curve(query)
  readonly progress: Progress['read'] = (listener) => this.#progress.read(listener)
  readonly forget: Progress['erase'] = (listener) => this.#progress.erase(listener)

  /** Reads rows for a backup: everything, because the sums are folded before the first row. */
  copy(after: string | null) {
    if (after === null) this.fold()
    return copyRows(this.#ctx.storage.sql, after)
  }

  /** Inserts rows of a backup. The object must not be used any more after it, because the rows are not in its memory. */
  async restore(self: Shard, rows: CopiedRow[]): Promise<void> {
    this.#identify(self)
    this.#ctx.storage.transactionSync(() => insertRows(this.#ctx.storage.sql, rows))
    await this.#announce(0)
  }

  /** Deletes everything, because the organization was deleted. The object must not be used any more after it. */
  async erase(): Promise<void> {
    this.#group = null
    await this.#ctx.storage.deleteAlarm()
    await this.#ctx.storage.deleteAll()
  }
}
