import { type SQL, sql } from 'drizzle-orm'

import { inJsonList } from '../../adapters/db/database.ts'
import type { Context } from '../../context.ts'
import type { PlayScope } from '../../contract/play.ts'

/** `withoutExtension` in SQL: everything before the last dot. */
const FILE_TITLE = sql`iif(instr(file_name, '.'), substr(rtrim(file_name, replace(file_name, '.', '')), 1,
  length(rtrim(file_name, replace(file_name, '.', ''))) - 1), file_name)`

/** The titles of resources, in SQL for their own table. The title of a track is the one that listeners see. */
export const TITLES: Record<PlayScope, SQL> = {
  track: sql`coalesce(player_title, (
    select tags ->> '$.title' from organizations where organizations.id = organization_id and uses_tags), ${FILE_TITLE})`,
  collection: sql`title`,
  playlist: sql`title`,
}

const ofResource = (table: string, title: SQL) => sql`(select ${title} from ${sql.raw(table)} where id = resource_id)`

/** The tables of everything that has a title. A share without its own title has that of its resource. */
const SOURCES = {
  track: { table: sql`tracks`, title: TITLES.track },
  collection: { table: sql`collections`, title: TITLES.collection },
  playlist: { table: sql`playlists`, title: TITLES.playlist },
  share: {
    table: sql`shares`,
    title: sql`coalesce(title, ${ofResource('collections', TITLES.collection)}, ${ofResource('playlists', TITLES.playlist)},
      ${ofResource('tracks', TITLES.track)}, ${ofResource('trash', sql`title`)})`,
  },
  api_key: { table: sql`api_keys`, title: sql`title` },
  webhook_endpoint: { table: sql`webhook_endpoints`, title: sql`title` },
  organization: { table: sql`(select id, name as title, id as organization_id from organizations)`, title: sql`title` },
}
type Kind = keyof typeof SOURCES

/**
 * Returns the titles of resources of the caller's organization by id, with one query for each kind. A resource in the trash has the title that the trash
 * shows; one that does not exist has none.
 */
export async function titlesOf({ db, principal }: Context, resources: { kind: Kind; id: string }[]) {
  const find = (table: SQL, title: SQL, ids: string[]) =>
    db
      .select({ id: sql<string>`id`.as('id'), title: sql<string>`${title}`.as('title') })
      .from(table)
      .where(sql`id in ${inJsonList(ids)} and +organization_id = ${principal.organization_id}`)
  const queries = [...new Set(resources.map(({ kind }) => kind))].map((kind) =>
    find(
      SOURCES[kind].table,
      SOURCES[kind].title,
      resources.flatMap((resource) => (resource.kind === kind ? [resource.id] : [])),
    ),
  )
  const ids = resources.flatMap(({ kind, id }) => (kind in TITLES ? [id] : []))
  const rows = await db.batch([find(sql`trash`, sql`title`, ids), ...queries])
  return new Map(rows.flat().map(({ id, title }) => [id, title]))
}
