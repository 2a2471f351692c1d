import { DAY, HOUR } from '../contract/time.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { type CopiedRow, copyRows, insertRows } from './copy.ts'
import type { Difference } from './difference.ts'
import { progressDays, reportFold, type Shard } from './fold_times.ts'
import type { HeardCall, HeardOutcome, Refusal } from './heard_call.ts'
import { Load } from './load.ts'
import { fits } from './physics.ts'
import { Progress, progressSince } from './progress.ts'
import { type Download, Groups, linesOfVisits, Segments } from './segments.ts'
import { Sums } from './sums/sums.ts'
import { createTracks } from './tracks.ts'
import { type Accepted, type TrackFacts, Visits } from './visits.ts'

/**
 * The listening of an organization, or of a shard of it, in a Durable Object (docs/decisions/0102). The open visits and the sums since the last fold are in
 * memory. Every report is in a segment before it is acknowledged, and the segments are read when the object starts.
 */

/** Milliseconds after the last report until the sums are folded. */
const QUIET = HOUR
/** Milliseconds until an alarm continues with months that it could not close. */
const CONTINUE = 1000
/** Maximum characters of the log without the open visits. It is read when the object starts. */
const MAX_LOG = 48_000_000
/** Rows of the log from which on an object that has started again folds at its next report. An object that idles is soon stopped, and would read them each time. */
const MAX_READ = 500
const midnightAfter = (now: number) => (Math.floor(now / DAY) + 1) * DAY
const SELF =
  'create table if not exists self (organization_id text, shard integer, due_at integer, recorded_day integer)'

/** The row of the object itself, in the table `self`. */
interface ObjectRow extends Shard {
  /** The time that was announced by `reportFold`; null before that. */
  due_at: number | null
  /** The last day that `recordDays` has handled, with an event or without. */
  recorded_day: number | null
}

export class ListeningEngine {
  readonly #ctx: DurableObjectState
  readonly #env: Env
  /** Null before the first report. */
  #self: ObjectRow | null
  #segments: Segments
  #sums: Sums
  #progress: Progress
  #visits = new Visits()
  #tracks: ReturnType<typeof createTracks> | null = null
  readonly #groups = new Groups((lines) => this.#write(lines))
  /** Refused reports that are not in the log yet, by day and reason. */
  #refused = new Map<string, number>()
  #lastReport = 0
  #day = 0
  #hasAlarm = false
  /** Whether the database says that the object is overdue, so its row has to be written in any case. */
  #isOverdue = false
  #announcing = Promise.resolve()
  #load = new Load()

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#env = env
    const { sql } = ctx.storage
    sql.exec(SELF)
    const [self] = sql.exec<ObjectRow & Record<string, SqlStorageValue>>('select * from self').toArray()
    this.#self = self ?? null
    this.#segments = new Segments(sql)
    this.#sums = new Sums(sql)
    this.#progress = new Progress(sql)
    this.#segments.read({
      visit: (visit) => this.#visits.restore(visit),
      report: (report, factsOf) => {
        // As when it arrived: otherwise all visits since the last fold would be in memory.
        this.#visits.close(report.at)
        this.#apply(report, factsOf)
      },
      refused: this.#sums.refuse,
      download: this.#sums.download,
    })
  }

  /** Counts a report. Resolves once it is stored. */
  async heard({ report, session, shards, listener = null, ...call }: HeardCall): Promise<HeardOutcome> {
    // A repeated report is acknowledged when the first one is.
    if (this.#visits.isOld(report, session)) {
      await this.#groups.done
      return 'ok'
    }
    const ids = new Set(report.listens.map(({ track }) => track))
    const tracks = await this.#tracksOf(call).find(ids, (facts) => !fits(report, session.via, facts))
    if (!tracks) return 'gone'
    await this.#identify(call)
    await this.#load.measure(this.#env.DB, this.#self!, this.#visits, Date.now(), shards)
    // The day may have ended while the database answered.
    const now = Date.now()
    this.#visits.close(now)
    if (this.#day !== Math.floor(now / DAY)) this.#startDay(now)
    const checked = this.#visits.isOld(report, session) ? null : this.#visits.check(report, session, call, tracks, now)
    if (checked === null) await this.#groups.done
    else if ('reason' in checked) await this.#refuse(checked.reason, now)
    else await this.#store(checked, (id) => tracks.get(id)!, listener)
    await this.#schedule(now)
    return checked && 'reason' in checked ? checked : 'ok'
  }

  #tracksOf = ({ organization_id }: Shard) => (this.#tracks ??= createTracks(this.#env.DB, organization_id))

  #nameItself({ organization_id, shard }: Shard): void {
    if (this.#self) return
    this.#ctx.storage.sql.exec('insert into self values (?, ?, null, null)', organization_id, shard)
    this.#self = { organization_id, shard, due_at: null, recorded_day: null }
  }

  /** Resolves once the database knows the object, because statistics ask only objects that it knows. */
  async #identify(self: Shard): Promise<void> {
    this.#nameItself(self)
    if (this.#self!.due_at !== null) return
    await this.#announce(midnightAfter(Date.now()))
    if (this.#self!.due_at === null) throw new Error('the object is not in the database')
  }

  #remember(column: 'due_at' | 'recorded_day', value: number): void {
    this.#self![column] = value
    this.#ctx.storage.sql.exec(`update self set ${column} = ?`, value)
  }

  #apply(report: Accepted, factsOf: (track: string) => TrackFacts, listener: string | null = null): void {
    const change = (difference: Difference) => {
      this.#sums.add(difference)
      if (listener !== null) this.#progress.add(listener, difference, report.at)
    }
    this.#visits.apply(report, factsOf, change)
  }

  /** Counts a refused report. Resolves once it is stored. */
  #refuse(reason: Refusal['reason'], now: number): Promise<void> {
    const day = Math.floor(now / DAY)
    this.#sums.refuse(day, reason, 1)
    const key = `${day} ${reason}`
    this.#refused.set(key, (this.#refused.get(key) ?? 0) + 1)
    return this.#log([], now)
  }

  /** Applies a report, and writes it. */
  #store(report: Accepted, factsOf: (track: string) => TrackFacts, listener: string | null): Promise<void> {
    const lines = this.#orRestart('listening_report_failed', () => {
      this.#apply(report, factsOf, listener)
      const closed = this.#visits.makeRoom(report.at)
      if (closed.length > 0) log('error', 'listening_visits_closed', { ...this.#self, visits: closed.length })
      return [...this.#segments.linesOf(report, factsOf), ...linesOfVisits(closed)]
    })
    return this.#log(lines, report.at)
  }

  /** Counts a download, unless the organization was deleted. Resolves once it is stored. */
  async download(self: Shard, place: Download): Promise<void> {
    if (!(await this.#tracksOf(self).find([place.track ?? '']))) return
    await this.#identify(self)
    const now = Date.now()
    this.#sums.download(place)
    await this.#log([this.#segments.downloadLine(place)], now)
    await this.#schedule(now)
  }

  /** Writes lines, alone or with others. Resolves once they are stored. */
  #log(lines: string[], now: number): Promise<void> {
    this.#lastReport = now
    return this.#groups.add(lines, now)
  }

  #write(lines: string[]): void {
    this.#orRestart('listening_write_failed', () => {
      const refused = [...this.#refused].map(([key, reports]) => {
        const [day, reason] = key.split(' ')
        return this.#segments.refusedLine(Number(day), reason!, reports)
      })
      this.#segments.write([...lines, ...refused])
      this.#refused.clear()
      const { length, readRows } = this.#segments
      if (this.#sums.isFull || length > MAX_LOG || readRows > MAX_READ) this.fold()
    })
  }

  /** Changes the memory and the rows. If that fails, they may differ, so the object starts again from its rows. */
  #orRestart<T>(event: string, change: () => T): T {
    try {
      return change()
    } catch (error) {
      log('error', event, { ...this.#self, error: describeError(error) })
      this.#ctx.abort(event)
      throw error
    }
  }

  /** Moves the sums to their rows, and keeps only the open visits in the log. */
  fold(): void {
    this.#visits.close(Date.now())
    this.#orRestart('listening_fold_failed', () =>
      this.#ctx.storage.transactionSync(() => {
        this.#sums.fold()
        this.#segments.replace(this.#visits.values())
      }),
    )
    this.#refused.clear()
    this.#groups.clear()
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
    const midnight = midnightAfter(now)
    const next = Math.min(now + QUIET, midnight)
    await this.#wake(next)
    await this.#announce(midnight)
  }

  /** Sets the alarm, unless it is set for an earlier time. */
  async #wake(at: number): Promise<void> {
    if (((await this.#ctx.storage.getAlarm()) ?? Infinity) > at) await this.#ctx.storage.setAlarm(at)
  }

  /** Announces one time after another, so that the last one remains. */
  #announce(due_at: number): Promise<void> {
    this.#announcing = this.#announcing.then(() => this.#sendFold(due_at))
    return this.#announcing
  }

  async #sendFold(due_at: number): Promise<void> {
    if (!this.#self || (this.#self.due_at === due_at && !this.#isOverdue)) return
    try {
      await reportFold(this.#env.DB, this.#self, due_at, this.#ctx.storage.sql.databaseSize)
      this.#remember('due_at', due_at)
      this.#isOverdue = false
    } catch (error) {
      log('error', 'listening_fold_not_reported', { ...this.#self, error: describeError(error) })
    }
  }

  #statsOf = (day: number) => this.#sums.stats({ scope: 'organization', id: '', from: day, to: day, by: 'day' })

  /**
   * Folds when the last report is an hour old, and at midnight (UTC). `overdue`: the name of this object, if its row in the database says that it is
   * overdue; the row is then written in any case.
   */
  async alarm(overdue?: Shard): Promise<void> {
    if (overdue) {
      this.#nameItself(overdue)
      this.#isOverdue = true
    }
    const now = Date.now()
    const day = Math.floor(now / DAY)
    if (now - this.#lastReport >= QUIET || this.#day !== day || this.#sums.isBefore(day)) this.fold()
    this.#day = day
    this.#hasAlarm = !this.#sums.isEmpty || this.#visits.size > 0
    const midnight = (day + 1) * DAY
    const quiet = Math.max(this.#lastReport, now - QUIET / 2) + QUIET
    if (this.#hasAlarm) await this.#ctx.storage.setAlarm(Math.min(quiet, midnight))
    else if (this.#statsOf(day).rows.length > 0) await this.#ctx.storage.setAlarm(midnight)
    const remember = (recorded: number) => this.#remember('recorded_day', recorded)
    if (this.#self) {
      // It loads Drizzle, which an object does not need for its first report.
      const { recordDays } = await import('./day_event.ts')
      await recordDays(this.#env, this.#self, day, this.#statsOf, remember)
    }
    const ends = await this.#endProgress(now)
    if (ends > 0) await this.#wake(ends)
    const closes = (await this.#sums.close(day)) ? now + CONTINUE : this.#sums.closesOn(day) * DAY
    if (closes > 0) await this.#wake(closes)
    // If a day could not be recorded, the object is overdue.
    await this.#announce(this.#hasAlarm ? midnight : ends)
  }

  /** Deletes the progress that has ended. Returns when the next ends, in milliseconds since 1970; 0 if there is none. */
  async #endProgress(now: number): Promise<number> {
    if (!this.#self || this.#progress.oldest === null) return 0
    const days = await progressDays(this.#env.DB, this.#self.organization_id)
    this.#progress.end(progressSince(days, now))
    const { oldest } = this.#progress
    return oldest === null ? 0 : oldest + days * DAY + 1
  }

  readonly has: Sums['has'] = (resource) => this.#sums.has(resource)
  readonly stats: Sums['stats'] = (query) => this.#sums.stats(query)
  readonly top: Sums['top'] = (query) => this.#sums.top(query)
  readonly counts: Sums['counts'] = (query) => this.#sums.counts(query)
  readonly curve: Sums['curve'] = (query) => this.#sums.curve(query)
  readonly progress: Progress['read'] = (listener, since) => this.#progress.read(listener, since)
  readonly forget: Progress['erase'] = (listener) => this.#progress.erase(listener)

  /** Reads rows for a backup: everything, because the sums are folded before the first row. Null if the place is malformed. */
  copy(after: string | null) {
    if (after === null) this.fold()
    return copyRows(this.#ctx.storage.sql, after)
  }

  /** Inserts rows of a backup. The object must not be used any more after it, because the rows are not in its memory. */
  async restore(self: Shard, rows: CopiedRow[]): Promise<void> {
    this.#nameItself(self)
    this.#self!.due_at = null
    this.#ctx.storage.transactionSync(() => insertRows(this.#ctx.storage.sql, rows))
    await this.#announce(0)
  }

  /** Deletes everything, because the organization was deleted. The object must not be used any more after it. */
  async erase(): Promise<void> {
    this.#groups.clear()
    await this.#ctx.storage.deleteAlarm()
    await this.#ctx.storage.deleteAll()
  }
}
