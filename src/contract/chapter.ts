import * as z from 'zod'

import { named, urlOf } from './common.ts'
import { MAX_CHAPTER_START, MAX_CHAPTER_URL } from './facts.ts'

/** Seconds from the start of the audio, rounded to milliseconds. */
const Seconds = z
  .number()
  .min(0)
  .max(MAX_CHAPTER_START)
  .overwrite((seconds) => Math.round(seconds * 1000) / 1000)
  .meta({ 'x-unit': 'seconds' })
const WebAddress = urlOf(/^https?$/, 'https: or http:', MAX_CHAPTER_URL)

/** A chapter in the format JSON Chapters 1.2. */
export const Chapter = named('Chapter', {
  /** Seconds from the start of the audio, with three decimals; after the previous chapter. */
  startTime: Seconds,
  /** Seconds from the start of the audio; by default, the chapter ends where the next one starts. */
  endTime: Seconds.optional(),
  /** Shown in the list of players, on one line. */
  title: z.string().optional(),
  /** Address of a picture, `https:` or `http:`. */
  img: WebAddress.optional(),
  /** Address of a page about the chapter, `https:` or `http:`. */
  url: WebAddress.optional(),
  /** False for a chapter that players do not list. */
  toc: z.boolean().optional(),
})
export type Chapter = z.infer<typeof Chapter>
