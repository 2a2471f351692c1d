/** Share of the slots that may be used before a table grows, and the factor by which it grows. */
const LOAD = 0.8
const GROWTH = 1.5
const FIRST_CAPACITY = 64

/**
 * A hash table from whole numbers below 2³² - 1 to rows of 32-bit counters, in two typed arrays. A `Map` of arrays needs about five times the memory,
 * and its size cannot be measured.
 */
export class Cells {
  readonly width: number
  #used = 0
  /** The keys plus 1; 0 is a free slot. */
  #keys = new Uint32Array(FIRST_CAPACITY)
  #values: Int32Array

  constructor(width: number) {
    this.width = width
    this.#values = new Int32Array(FIRST_CAPACITY * width)
  }

  get bytes(): number {
    return this.#keys.byteLength + this.#values.byteLength
  }

  /** The slot that has the key, or the free slot for it. */
  #slot(key: number): number {
    const capacity = this.#keys.length
    // Multiplicative hashing (Knuth, The Art of Computer Programming 6.4), scaled to the capacity.
    let slot = Math.floor(((Math.imul(key, 0x9e3779b1) >>> 0) / 2 ** 32) * capacity)
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key + 1) slot = slot + 1 === capacity ? 0 : slot + 1
    return slot
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values]
    const capacity = Math.ceil(keys.length * GROWTH)
    this.#keys = new Uint32Array(capacity)
    this.#values = new Int32Array(capacity * this.width)
    for (const [at, key] of keys.entries()) {
      if (key === 0) continue
      const slot = this.#slot(key - 1)
      this.#keys[slot] = key
      this.#values.set(values.subarray(at * this.width, (at + 1) * this.width), slot * this.width)
    }
  }

  has = (key: number): boolean => this.#keys[this.#slot(key)] !== 0

  /** The counter in a column; 0 if there is no row with this key. */
  get = (key: number, column: number): number => this.#values[this.#slot(key) * this.width + column]!

  /** Adds to a counter, and returns its new value. */
  add(key: number, column: number, amount: number): number {
    let slot = this.#slot(key)
    if (this.#keys[slot] === 0) {
      if (this.#used + 1 > this.#keys.length * LOAD) {
        this.#grow()
        slot = this.#slot(key)
      }
      this.#keys[slot] = key + 1
      this.#used++
    }
    return (this.#values[slot * this.width + column]! += amount)
  }

  /** Sets all counters of a row to 0. */
  clear(key: number): void {
    const start = this.#slot(key) * this.width
    this.#values.fill(0, start, start + this.width)
  }

  /** Removes a row. The rows after it, up to the next free slot, may have been displaced by it, so they are inserted again. */
  remove(key: number): void {
    let slot = this.#slot(key)
    if (this.#keys[slot] === 0) return
    this.#used--
    const { width } = this
    for (let removed = true; this.#keys[slot] !== 0; removed = false) {
      const moved = this.#keys[slot]!
      const row = this.#values.slice(slot * width, (slot + 1) * width)
      this.#keys[slot] = 0
      this.#values.fill(0, slot * width, (slot + 1) * width)
      if (!removed) {
        const to = this.#slot(moved - 1)
        this.#keys[to] = moved
        this.#values.set(row, to * width)
      }
      slot = slot + 1 === this.#keys.length ? 0 : slot + 1
    }
  }

  /** The keys in ascending order. */
  keys(): Uint32Array {
    return this.#keys
      .filter((key) => key !== 0)
      .map((key) => key - 1)
      .toSorted()
  }
}

/** Returns those of sorted keys that are at least `from` and less than `until`. */
export function keysBetween(keys: Uint32Array, from: number, until: number): Uint32Array {
  const countBelow = (key: number) => {
    let [low, high] = [0, keys.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }
  return keys.subarray(countBelow(from), countBelow(until))
}
