import * as z from 'zod'

import { Id, ok } from './common.ts'
import { MAX_HEARD_BYTES, MAX_HEARD_LISTENS, MAX_HEARD_NUMBER, MAX_HEARD_RANGES, MAX_HEARD_SOURCE } from './facts.ts'
import { defineOperations } from './operation.ts'
import { oneLine } from './text.ts'

/**
 * The listening reports of players (docs/decisions/0102). src/http/api/heard_report.ts parses valid reports without zod, by the same rules
 * (docs/decisions/0113).
 */

/** Seconds of a track's audio, rounded to tenths. */
const Seconds = z
  .number()
  .min(0)
  .max(MAX_HEARD_NUMBER)
  .overwrite((seconds) => Math.round(seconds * 10) / 10)
  .meta({ 'x-unit': 'seconds' })
const Ranges = z.array(z.array(Seconds).min(2).max(2)).max(MAX_HEARD_RANGES)

/** One pass of one track through the player. */
const HeardListen = z.strictObject({
  /** Id of a track of the session. */
  track: Id,
  /** The parts that were heard at least once, each as `[start, end]` in seconds, in order and without overlaps. Muted seconds are not among them. */
  ranges: Ranges,
  /** The parts of `ranges` that were heard at least twice. */
  again: Ranges.optional(),
  /** Seconds of the recording that played muted. */
  muted: Seconds.optional(),
  /** Those seconds of `ranges` and `again` that played faster than recorded. */
  fast: Seconds.optional(),
})

/**
 * The state of a visit, which is the use of a player by one page. Every report contains all listens from `first` on, so a lost report is
 * repaired by the next one, and a repeated one changes nothing.
 */
export const HeardReport = z.strictObject({
  /** 16 random lower-case hexadecimal digits: new for each visit, and the same in all of its reports. */
  visit: z.string().regex(/^[\da-f]{16}$/, 'must be 16 hexadecimal characters in lower case'),
  /** 1 in the first report of a visit, then increasing. A report that is not newer than the last one is ignored. */
  sequence: z.int().min(1).max(MAX_HEARD_NUMBER),
  /** Seconds since the start of the visit, by a clock that is never set back. */
  age: Seconds,
  /** Index in the visit of the first of `listens`; 0 in a new visit. All earlier ones are finished and acknowledged. */
  first: z.int().min(0).max(MAX_HEARD_NUMBER),
  /** Host name of the page, or of the page around a frame. Apps send their name. */
  source: z.string().overwrite(oneLine).min(1).max(MAX_HEARD_SOURCE).optional(),
  /** The whole state of each listen from `first` on, so that a lost report is repaired by the next one. */
  listens: z.array(HeardListen).min(1).max(MAX_HEARD_LISTENS),
})
export type HeardReport = z.infer<typeof HeardReport>

export const heardOperations = defineOperations({
  reportHeard: {
    method: 'post',
    path: '/v1/heard/{token}',
    grows: false,
    summary: 'Report the seconds that a listener has heard (no key needed); after 400, begin a new visit',
    tag: 'Listening',
    access: [],
    effect: 'write',
    guide: 'listening',
    recordsNoEvent: 'sessions are too frequent',
    secret: 'token',
    nouns: { token: 'heard_token' },
    params: z.object({
      /** `heard_token` of a play session. */
      token: z.string().max(255),
    }),
    body: HeardReport,
    body_size: MAX_HEARD_BYTES,
    is_text: true,
    response: ok({}),
    is_report: true,
    invisibleToListeners: true,
    errors: ['session_expired', 'unavailable'],
  },
})
