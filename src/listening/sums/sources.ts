/**
 * The votes for the sources of a day (docs/decisions/0110): each address has one a day, for the first source that it names. A resource has a limited number of
 * sources, and those with the most votes remain, so a few senders cannot replace the sources of others. The votes are stored, the addresses are not.
 */

/** The sources of downloads by links to files. They are always kept, because no address votes for them. */
const FILE_SOURCES = ['feed', 'file'] as const
export type FileSource = (typeof FILE_SOURCES)[number]
export const isFileSource = (source: string): boolean => FILE_SOURCES.some((each) => each === source)

/** Maximum number of addresses of a day that are remembered. */
const MAX_ADDRESSES = 20_000
/** Number of sources of a day from which on only half of them remain. */
const MAX_NAMES = 1000
const TABLE = 'create table if not exists vote (day integer primary key, names text not null)'

/** The addresses that have named a source today. */
export class Voters {
  #day = 0
  #addresses = new Set<string>()

  /** Whether an address has a vote, which it has once a day. */
  vote(day: number, address: string): boolean {
    if (day !== this.#day) this.#addresses.clear()
    this.#day = day
    if (this.#addresses.has(address)) return false
    this.#addresses.add(address)
    if (this.#addresses.size > MAX_ADDRESSES) this.#addresses.delete(this.#addresses.values().next().value!)
    return true
  }
}

export class Sources {
  readonly #sql: SqlStorage
  /** The votes of the last two days, by day and source. */
  readonly #days: Map<number, Map<string, number>>

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLE)
    this.#days = new Map(this.#read('day >= (select max(day) - 1 from vote)'))
  }

  #read = (where: string, ...values: number[]): [day: number, votes: Map<string, number>][] =>
    this.#sql
      .exec<{ day: number; names: string }>(`select * from vote where ${where}`, ...values)
      .toArray()
      .map(({ day, names }) => [day, new Map(JSON.parse(names) as [string, number][])])

  votesOf = (day: number, source: string): number =>
    isFileSource(source) ? Infinity : (this.#days.get(day)?.get(source) ?? 0)

  /** Returns the votes of several stored days, which follow one another. */
  ofDays(days: number[]): (source: string) => number {
    const votes = new Map<string, number>()
    for (const [, names] of this.#read('day between ? and ?', days[0]!, days.at(-1)!))
      for (const [source, count] of names) votes.set(source, (votes.get(source) ?? 0) + count)
    return (source) => (isFileSource(source) ? Infinity : (votes.get(source) ?? 0))
  }

  add(day: number, source: string): void {
    const votes = this.#days.get(day) ?? new Map<string, number>()
    votes.set(source, (votes.get(source) ?? 0) + 1)
    const most = votes.size > MAX_NAMES && [...votes].toSorted(([, a], [, b]) => b - a).slice(0, MAX_NAMES / 2)
    this.#days.set(day, most ? new Map(most) : votes)
  }

  /** Stores the votes of the last two days. The caller does it in the transaction that deletes the log. */
  fold(): void {
    const last = Math.max(...this.#days.keys())
    for (const [day, votes] of this.#days) {
      if (day < last - 1) this.#days.delete(day)
      else this.#sql.exec('insert or replace into vote values (?, ?)', day, JSON.stringify([...votes]))
    }
  }

  /** Deletes the votes of the days before one, whose months are closed. */
  forget(before: number): void {
    this.#sql.exec('delete from vote where day < ?', before)
  }
}
