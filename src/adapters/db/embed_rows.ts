import type { PlayScope } from '../../contract/play.ts'
import { FIRST_LOOK, type FirstLook, PLAYLIST_LEVELS } from './first_cover.ts'
import { columnsOf, selectOf } from './query.ts'
import type { collections, organizations, playlists, tracks } from './schema/library.ts'
import { type ListOwner, OWNERS } from './session_list.ts'

/** The reference of a play session or a share to a collection, track or playlist. A share without an end gets a distant one. */
interface Owner {
  organization_id: string
  scope: PlayScope
  resource_id: string
  expires_at: number
}

/** The levels of a generated cover in hexadecimal; null if there is an uploaded one. */
interface Levels {
  levels: string | null
}

const labels = { player_color: 'plain', player_subtitle: 'plain' } as const
const cover = { cover_path: 'plain', cover_size: 'plain', cover_colors: 'json' } as const
const overridable = { is_cover_overridable: 'flag', is_theme_overridable: 'flag' } as const

const rowsOf = (owner: ListOwner) =>
  selectOf({
    session: columnsOf<Owner>(owner)(
      { organization_id: 'plain', scope: 'plain', resource_id: 'plain', expires_at: 'plain' },
      { expires_at: `coalesce(${owner}.expires_at, 9e15)` },
    ),
    track: columnsOf<Omit<typeof tracks.$inferSelect, 'levels'> & Levels>('tracks')(
      { file_name: 'plain', player_title: 'plain', tags: 'json', ...labels, ...cover, levels: 'plain' },
      { levels: 'iif(tracks.cover_path is null, hex(tracks.levels), null)' },
    ),
    collection: columnsOf<typeof collections.$inferSelect & { first: FirstLook | null }>('collections')(
      { title: 'plain', theme: 'json', ...labels, ...cover, ...overridable, first: 'json' },
      { first: FIRST_LOOK },
    ),
    playlist: columnsOf<typeof playlists.$inferSelect & Levels>('playlists')(
      { title: 'plain', theme: 'json', ...labels, ...cover, levels: 'plain' },
      { levels: PLAYLIST_LEVELS },
    ),
    organization: columnsOf<typeof organizations.$inferSelect>('organizations')({
      id: 'plain',
      name: 'plain',
      ...labels,
      ...overridable,
      uses_tags: 'flag',
    }),
  })(`from ${owner}
    left join tracks on ${owner}.scope = 'track' and tracks.id = ${owner}.resource_id
    left join collections on collections.id = iif(${owner}.scope = 'collection', ${owner}.resource_id, tracks.collection_id)
    left join playlists on ${owner}.scope = 'playlist' and playlists.id = ${owner}.resource_id
    left join organizations on organizations.id = ${owner}.organization_id
    where ${OWNERS[owner]}`)

/** Statements that select a session or share with the rows that contain its title and its cover. The parameters are those of `OWNERS`. */
export const embedRows = { play_sessions: rowsOf('play_sessions'), shares: rowsOf('shares') }
export type EmbedRow = NonNullable<Awaited<ReturnType<ReturnType<typeof rowsOf>['get']>>>
