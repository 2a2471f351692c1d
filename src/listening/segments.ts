import type { Sums } from './sums/sums.ts'
import type { Accepted, ClosedVisit, TrackFacts, Visit } from './visits.ts'

/**
 * The log of an object: rows with many lines of JSON each. It contains everything since the last fold: first the visits that were open, then the reports
 * (docs/decisions/0102). Tracks are numbers in it, in the order of their lines. A track that was read from the database again has a new line, because its
 * collection or its length may have changed.
 */

/** A download, as the sums count it. */
export type Download = Parameters<Sums['download']>[0]

/** A line of a segment. */
type Line =
  | ['track', TrackFacts]
  | ['visit', Visit | ClosedVisit]
  | ['report', Accepted]
  | ['refused', day: number, reason: string, reports: number]
  | ['download', Download]

export interface Reader {
  visit: (visit: Visit | ClosedVisit) => void
  report: (report: Accepted, factsOf: (track: string) => TrackFacts) => void
  refused: (day: number, reason: string, reports: number) => void
  download: (place: Download) => void
}

const TABLE = 'create table if not exists segment (id integer primary key, body text not null)'
/** Maximum characters of a row. SQLite in Durable Objects allows 2 MB for a value (Durable Objects, Limits). */
const MAX_ROW = 500_000

/** Milliseconds that a line waits for others. A line after a longer pause is written at once. */
const GROUP = 500
/** Milliseconds that a line may wait instead while lines arrive often, unless `ENOUGH` calls share its row earlier. */
const LONG_GROUP = 5000
const ENOUGH = 10
/**
 * The calls of a whole minute from which on lines wait longer in the next one. Below it, the rows that are saved cost less than the time for which the object
 * waits (docs/decisions/0111).
 */
const OFTEN = 40

interface Group {
  lines: string[]
  calls: number
  done: Promise<void>
}

/** Collects the lines of several calls into one row. */
export class Groups {
  readonly #write: (lines: string[]) => void
  #group: Group | null = null
  #last = 0
  #minute = 0
  #calls = 0
  #isOften = false

  constructor(write: (lines: string[]) => void) {
    this.#write = write
  }

  /** Resolves once the lines that wait are written. */
  get done(): Promise<void> | undefined {
    return this.#group?.done
  }

  /** Writes lines at once if they are alone, otherwise in one row with all that arrive until then. Resolves once they are written. */
  add(lines: string[], now: number): Promise<void> {
    this.#count(now)
    const wait = this.#isOften ? LONG_GROUP : GROUP
    const isAlone = now - this.#last >= wait
    this.#last = now
    if (this.#group) {
      this.#group.lines.push(...lines)
      this.#group.calls++
      return this.#group.done
    }
    if (isAlone) {
      this.#write(lines)
      return Promise.resolve()
    }
    const group: Group = { lines, calls: 1, done: Promise.resolve() }
    this.#group = group
    group.done = this.#writeLater(group, wait)
    return group.done
  }

  /** Drops the lines that wait, because a fold has stored what they contain. */
  clear(): void {
    this.#group = null
  }

  #count(now: number): void {
    const minute = Math.floor(now / 60_000)
    if (minute !== this.#minute) {
      this.#isOften = minute === this.#minute + 1 && this.#calls >= OFTEN
      this.#minute = minute
      this.#calls = 0
    }
    this.#calls++
  }

  async #writeLater(group: Group, wait: number): Promise<void> {
    let waited = 0
    do {
      await scheduler.wait(GROUP)
      waited += GROUP
    } while (this.#group === group && waited < wait && group.calls < ENOUGH)
    if (this.#group !== group) return
    this.#group = null
    this.#write(group.lines)
  }
}

/** Yields line by line, because all lines together are large. */
export function* linesOfVisits(visits: Iterable<Visit | ClosedVisit>) {
  for (const visit of visits) yield JSON.stringify(['visit', visit] satisfies Line)
}

export class Segments {
  readonly #sql: SqlStorage
  /** The numbers of the tracks that are in the log, as they were read. */
  #numbers = new WeakMap<TrackFacts, string>()
  /** The number of tracks in the log. */
  #tracks = 0
  /** Characters of the lines that were written since the last fold. */
  length = 0
  /** The rows that were read when the object started; 0 after the next fold. */
  readRows = 0

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLE)
  }

  /** Reads the log. */
  read(reader: Reader): void {
    const tracks: TrackFacts[] = []
    const readReport = (report: Accepted) => {
      const facts = new Map<string, TrackFacts>()
      const listens = report.listens.map(([number, ...listen]): Accepted['listens'][number] => {
        const track = tracks[Number(number)]!
        facts.set(track.id, track)
        return [track.id, ...listen]
      })
      reader.report({ ...report, listens }, (id) => facts.get(id)!)
    }
    for (const { body } of this.#sql.exec<{ body: string }>('select body from segment order by id')) {
      this.readRows++
      for (const text of body.split('\n')) {
        const line = JSON.parse(text) as Line
        if (line[0] !== 'visit') this.length += text.length + 1
        if (line[0] === 'track') this.#tracks = tracks.push(line[1])
        else if (line[0] === 'visit') reader.visit(line[1])
        else if (line[0] === 'report') readReport(line[1])
        else if (line[0] === 'refused') reader.refused(line[1], line[2], line[3])
        else reader.download(line[1])
      }
    }
  }

  /** Returns the lines of a report. */
  linesOf(report: Accepted, factsOf: (track: string) => TrackFacts): string[] {
    const added: string[] = []
    const listens = report.listens.map(([track, ...listen]): Accepted['listens'][number] => {
      const facts = factsOf(track)
      const number = this.#numbers.get(facts) ?? String(this.#tracks++)
      if (!this.#numbers.has(facts)) {
        this.#numbers.set(facts, number)
        added.push(JSON.stringify(['track', facts] satisfies Line))
      }
      return [number, ...listen]
    })
    return [...added, JSON.stringify(['report', { ...report, listens }] satisfies Line)]
  }

  downloadLine = (place: Download) => JSON.stringify(['download', place] satisfies Line)

  refusedLine = (day: number, reason: string, reports: number) =>
    JSON.stringify(['refused', day, reason, reports] satisfies Line)

  /** Writes lines as one row, or as several if they are long. */
  write(lines: Iterable<string>): void {
    let row: string[] = []
    let length = 0
    const flush = () => {
      if (row.length > 0) this.#sql.exec('insert into segment (body) values (?)', row.join('\n'))
      this.length += length
      row = []
      length = 0
    }
    for (const line of lines) {
      if (length + line.length > MAX_ROW) flush()
      row.push(line)
      length += line.length + 1
    }
    flush()
  }

  /** Replaces the log with the open visits. Every deleted row would count as a written one, a dropped table does not. */
  replace(visits: Iterable<Visit | ClosedVisit>): void {
    this.#sql.exec('drop table segment')
    this.#sql.exec(TABLE)
    this.readRows = 0
    this.#numbers = new WeakMap()
    this.#tracks = 0
    this.write(linesOfVisits(visits))
    this.length = 0
  }
}
