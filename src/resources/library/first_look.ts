import { sql } from 'drizzle-orm'

import { FIRST_LOOK, type FirstLook, PLAYLIST_LEVELS } from '../../adapters/db/first_cover.ts'

/** The cover and the levels of a collection's first track, if the collection itself has no cover. Use it in a join with the collection and its organization. */
export const firstLook = sql<FirstLook | null>`${sql.raw(FIRST_LOOK)}`.mapWith(
  (text: string) => JSON.parse(text) as FirstLook,
)
/** The levels of the first track of a playlist without a cover, in hexadecimal. */
export const playlistLevels = sql<string | null>`${sql.raw(PLAYLIST_LEVELS)}`
