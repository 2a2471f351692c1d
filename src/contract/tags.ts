import * as z from 'zod'

import { Title } from './common.ts'
import { MAX_TAG_NUMBER } from './facts.ts'

/** `null` returns to the value of the file, and an empty text hides it. */
const tagText = Title.nullable().optional()
/** `null` returns to the value of the file, and 0 hides it. */
const tagNumber = z.int().min(0).max(MAX_TAG_NUMBER).nullable().optional()
/** The tags that people can set; the title is `player_title`. Omitted tags keep their values. */
export const TagsUpdate = z.strictObject({
  /** Performer of this recording. `null` returns to the value of the file, and an empty text hides it. */
  artist: tagText,
  /** Name of the release. `null` returns to the value of the file, and an empty text hides it. */
  album: tagText,
  /** Performer of the whole release. `null` returns to the value of the file, and an empty text hides it. */
  album_artist: tagText,
  /** Author of the music. `null` returns to the value of the file, and an empty text hides it. */
  composer: tagText,
  /** Style of the music. `null` returns to the value of the file, and an empty text hides it. */
  genre: tagText,
  /** `1959`, `1959-08` or `1959-08-17`; it also sets `year`. `null` returns to the value of the file, and an empty text hides it. */
  date: z
    .string()
    .regex(
      /^(\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?$/,
      'must be a date such as 1959, 1959-08 or 1959-08-17',
    )
    .nullable()
    .optional(),
  /** Place on the disc, from 1 to 9,999. `null` returns to the value of the file, and 0 hides it. */
  track_number: tagNumber,
  /** Place in the set, from 1 to 9,999. `null` returns to the value of the file, and 0 hides it. */
  disc_number: tagNumber,
})
export type TagsUpdate = z.infer<typeof TagsUpdate>
