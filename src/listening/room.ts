import { type Refusal, refuse } from './heard_call.ts'

/**
 * The order in which open visits give way when an object is full (docs/decisions/0110). The room belongs to pairs of a session and an address in equal parts:
 * a session that is heard from many addresses has many pairs, and so has a school with one address and many sessions.
 */

/** An open visit. */
export interface Occupant {
  size: number
  /** Visits of the same pair, and of the same address, have the same text. */
  pair: string
  address: string
}

/** Returns what the visits of each key have together, up to each visit in their order. */
function running<T extends Occupant>(occupants: T[], key: 'pair' | 'address'): Map<T, number> {
  const sums = new Map<string, number>()
  return new Map(
    occupants.map((each) => {
      const sum = (sums.get(each[key]) ?? 0) + each.size
      sums.set(each[key], sum)
      return [each, sum]
    }),
  )
}

/**
 * Returns the order in which visits are closed: always the largest visit of the pair that then has most. Pairs with at most `modest` count as equal; of these,
 * the address that has most comes first.
 */
export function greediest<T extends Occupant>(occupants: Iterable<T>, modest: number): T[] {
  const bySize = [...occupants].toSorted((a, b) => a.size - b.size)
  const ofPair = running(bySize, 'pair')
  const greed = (each: T) => Math.max(modest, ofPair.get(each)!)
  const byPair = bySize.toSorted((a, b) => greed(a) - greed(b))
  const ofAddress = running(byPair, 'address')
  return byPair.toSorted((a, b) => greed(b) - greed(a) || ofAddress.get(b)! - ofAddress.get(a)!)
}

/** Returns the size of all visits, of which no pair counts with more than `modest`. */
export function demandOf(occupants: Iterable<Occupant>, modest: number): number {
  const sums = new Map<string, number>()
  for (const { pair, size } of occupants) sums.set(pair, Math.min(modest, (sums.get(pair) ?? 0) + size))
  return [...sums.values()].reduce((sum, size) => sum + size, 0)
}

/** Maximum number of new visits of a pair per minute. A school has one address, and may have one session. */
const MAX_NEW_VISITS = 1200

/** The number of new visits in the current minute, by pair. */
export class NewVisits {
  #counts = new Map<string, number>()
  #minute = 0

  /** Counts a new visit. Returns why it is refused; null if it is accepted. */
  refuse(pair: string, now: number): Refusal | null {
    const minute = Math.floor(now / 60_000)
    if (minute !== this.#minute) this.#counts = new Map()
    this.#minute = minute
    const count = (this.#counts.get(pair) ?? 0) + 1
    if (count > MAX_NEW_VISITS)
      return refuse('rate', 'visit', `is one of more than ${MAX_NEW_VISITS} that the session started in this minute`)
    this.#counts.set(pair, count)
    return null
  }
}

/** Maximum number of addresses that have a number. */
const MAX_ADDRESSES = 50_000

/**
 * Numbers the addresses of open visits. Visits are stored with the number and not with the address, so the visits of an address are still known as such when the
 * object has started again.
 */
export class Senders {
  /** By keyed hashes of the addresses. */
  #numbers = new Map<string, number>()
  #next = 1

  /** Returns the number of an address; undefined if the service does not know addresses. `last`: the number of the visit's last report. */
  numberOf(address: string, last: number | undefined): number | undefined {
    if (address === '') return undefined
    const known = this.#numbers.get(address)
    if (known !== undefined) return known
    if (this.#numbers.size >= MAX_ADDRESSES) this.#numbers = new Map()
    // After a start of the object, the first report of a visit brings the address of its number back.
    const isFree = last !== undefined && ![...this.#numbers.values()].includes(last)
    const number = isFree ? last : this.#next++
    this.#numbers.set(address, number)
    return number
  }

  /** Keeps a number that a stored visit has from being given to another address. */
  restore(number = 0): void {
    this.#next = Math.max(this.#next, number + 1)
  }
}
