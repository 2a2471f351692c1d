import { MINUTE } from '../contract/time.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import type { Shard } from './fold_times.ts'
import { growShards } from './shards.ts'
import { MAX_OPEN_SIZE, type Visits } from './visits.ts'

/** The load above which the number of shards doubles: reports per minute, or characters of open visits. */
const HOT = { reports: 18_000, size: MAX_OPEN_SIZE / 2 }
/** Milliseconds after which the number of shards may grow again. Sessions that exist keep theirs for up to a day. */
const PAUSE = 6 * 60 * MINUTE

/** The load of an object. */
export class Load {
  #minute = 0
  #reports = 0
  /** The highest number of shards in the tokens of this minute. */
  #shards = 1
  #mayGrowAt = 0

  /** Counts a report, and gives the organization more shards if the load is high. New sessions use them. A failure is repeated after a minute. */
  async measure(db: D1Database, self: Shard, visits: Visits, now: number, shards: number): Promise<void> {
    const minute = Math.floor(now / MINUTE)
    if (minute !== this.#minute) [this.#reports, this.#shards] = [0, 1]
    this.#minute = minute
    this.#shards = Math.max(this.#shards, shards)
    const isBusy = ++this.#reports > HOT.reports
    if (!(isBusy || visits.length > HOT.size) || now < this.#mayGrowAt) return
    // A few senders with many visits need no other objects.
    const isHot = isBusy || visits.demand() > HOT.size
    this.#mayGrowAt = now + (isHot ? PAUSE : MINUTE)
    if (!isHot) return
    await growShards(db, self.organization_id, this.#shards).catch((error: unknown) => {
      this.#mayGrowAt = now + MINUTE
      log('error', 'listening_shards_not_grown', { ...self, error: describeError(error) })
    })
  }
}
