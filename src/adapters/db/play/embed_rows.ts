import type { PlayScope } from '../../../contract/play.ts'
import { FIRST_LOOK, type FirstLook, PLAYLIST_LEVELS } from '../first_cover.ts'
import { columnsOf, selectOf } from '../query.ts'
import type { collections, organizations, playlists, tracks } from '../schema/library.ts'
import { OWNERS, type OwnerSource } from './session_list.ts'

/** The reference of a play session or a share to a collection, track or playlist. A share without an end gets a distant one. */
interface Owner {
  organization_id: string
  scope: PlayScope
  resource_id: string
  expires_at: number
  /** The sites that may show a signed session in a frame; null for all. Those of the page of a share are read with the share. */
  allowed_origins: string[] | null
  /** Only of a session that was signed for a share: its slug, and the hash of its password. */
  slug: string | null
  password_hash: string | null
}

/** The levels of a generated cover in hexadecimal; null if there is an uploaded one. */
interface Levels {
  levels: string | null
}

const labels = { player_color: 'plain', player_subtitle: 'plain' } as const
const cover = { cover_path: 'plain', cover_size: 'plain', cover_colors: 'json' } as const
const overridable = { is_cover_overridable: 'flag', is_theme_overridable: 'flag' } as const

/** Returns the statement for a source. `computed` is the SQL of the columns that only a signed session has. */
export const embedRowsOf = (
  { name, from, condition }: OwnerSource,
  computed = { allowed_origins: 'null', slug: 'null', password_hash: 'null' },
) =>
  selectOf({
    session: columnsOf<Owner>(name)(
      {
        organization_id: 'plain',
        scope: 'plain',
        resource_id: 'plain',
        expires_at: 'plain',
        allowed_origins: 'json',
        slug: 'plain',
        password_hash: 'plain',
      },
      { expires_at: `coalesce(${name}.expires_at, 9e15)`, ...computed },
    ),
    track: columnsOf<Omit<typeof tracks.$inferSelect, 'levels'> & Levels>('tracks')(
      {
        file_name: 'plain',
        player_title: 'plain',
        tags: 'json',
        episode: 'json',
        created_at: 'plain',
        ...labels,
        ...cover,
        levels: 'plain',
      },
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
  })(`from ${from}
    left join tracks on ${name}.scope = 'track' and tracks.id = ${name}.resource_id
    left join collections on collections.id = iif(${name}.scope = 'collection', ${name}.resource_id, tracks.collection_id)
    left join playlists on ${name}.scope = 'playlist' and playlists.id = ${name}.resource_id
    left join organizations on organizations.id = ${name}.organization_id
    where ${condition}`)

/** Statements that select a session or share with the rows that contain its title and its cover. The parameters are those of `OWNERS`. */
export const embedRows = { play_sessions: embedRowsOf(OWNERS.play_sessions), shares: embedRowsOf(OWNERS.shares) }
export type EmbedRow = NonNullable<Awaited<ReturnType<ReturnType<typeof embedRowsOf>['get']>>>
