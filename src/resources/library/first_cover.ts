import { sql } from 'drizzle-orm'

import { FIRST_COVER, type FirstCover } from '../../adapters/db/first_cover.ts'

/** The cover of a collection's first track, if the collection itself has no cover. Use it in a join with the collection and its organization. */
export const firstCover = sql<FirstCover | null>`${sql.raw(FIRST_COVER)}`.mapWith(
  (text: string) => JSON.parse(text) as FirstCover,
)
