import type { Failure, Playlist } from '../../base/api.ts'
import { joined, length, plural } from '../../base/format.ts'
import { href, type PageProperties } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { forgetViews } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { EditHead } from '../../ui/edit/edit_head.tsx'
import { PageHead, Tabs } from '../../ui/page/page_head.tsx'
import { ThingNotLoaded, NotRenewed } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { type Look, LookForm } from '../library/look_form.tsx'
import { PlayFirst } from '../library/play_first.tsx'
import { PlaysNote } from '../listening/plays_note.tsx'
import { openShare } from '../sharing/open_share.ts'
import { removeList } from '../trash/trash.ts'
import { PlaylistEditor } from './playlist_editor.tsx'
import { useEntries } from './use_entries.ts'

const TABS = [
  ['', text('Tracks')],
  // In a wide window, the search is next to the tracks.
  ['add', text('Add tracks')],
  ['look', text('Look')],
] as const

type Changes = Look & Partial<Pick<Playlist, 'title'>> & { player_subtitle?: string | null }
interface TitleProperties {
  playlist: Playlist
  save: (changes: Changes) => Promise<Failure | undefined>
}

const PlaylistTitle = ({ playlist: { id, title, player_subtitle }, save }: TitleProperties) => (
  <EditHead
    draft={`playlist/${id}`}
    title={title}
    subtitle={player_subtitle}
    subtitleLabel={t('Subtitle')}
    addSubtitle={t('Add a subtitle')}
    saveTitle={(title) => save({ title })}
    saveSubtitle={(subtitle) => save({ player_subtitle: subtitle || null })}
  />
)

/** The page of a playlist: its tracks and its appearance. */
export function PlaylistPage({ id, tab }: PageProperties) {
  const client = useClient()
  const params = { playlist_id: id }
  const loaded = useQuery({
    key: ['/v1/playlist/{playlist_id}', id],
    load: () => client.get('/v1/playlist/{playlist_id}', { params }),
  })
  const cover = useQuery({
    key: ['/v1/playlist/{playlist_id}/cover', id],
    load: () => client.get('/v1/playlist/{playlist_id}/cover', { params }),
  })
  const list = useEntries(id)
  useTitle(loaded.answer?.playlist.title)

  if (!loaded.answer) return <ThingNotLoaded {...loaded} />
  const { playlist } = loaded.answer
  const tracks = list.entries.map(({ track }) => track)
  const seconds = tracks.reduce((sum, { duration }) => sum + duration, 0)
  const note = joined([!list.loading && plural(tracks.length, 'track'), seconds > 0 && length(seconds)])

  async function save(changes: Changes) {
    const answer = await client.put('/v1/playlist/{playlist_id}', { params, body: changes })
    if (!answer.ok) return answer
    loaded.set(answer)
    forgetViews()
    return undefined
  }
  return (
    <>
      <NotRenewed {...loaded} />
      <PageHead
        back={{ href: href('playlists'), label: t('Playlists') }}
        title={playlist.title}
        heading={<PlaylistTitle playlist={playlist} save={save} />}
        note={<PlaysNote scope="playlist" id={id} note={note} />}
        tint={playlist.image_colors[0]?.hex}
        cover={cover.answer?.cover_image}
        handle={async () => {
          const made = await client.post('/v1/playlist/{playlist_id}/cover', { params })
          return made.ok ? { ok: true, handle: made.playlist_cover_upload } : made
        }}
        onCover={() => {
          forgetViews()
          return Promise.all([cover.reload(), loaded.reload()])
        }}
      >
        <PlayFirst scope="playlist" id={id} tracks={tracks} />
        <Button kind="primary" icon="share" onClick={() => openShare({ scope: 'playlist', id, title: playlist.title })}>
          {t('Share')}
        </Button>
        <Menu
          label={t('More for {title}', { title: playlist.title })}
          items={[
            { label: t('Delete playlist'), danger: true, onSelect: () => removeList(client, 'playlist', playlist) },
          ]}
        />
      </PageHead>
      <Tabs page="playlist" id={id} current={tab} tabs={TABS.map(([name, label]) => [name, t(label)] as const)} />
      {tab !== 'look' && <PlaylistEditor playlist_id={id} list={list} isAdding={tab === 'add'} />}
      {tab === 'look' && <LookForm scope="playlist" id={id} values={playlist} save={save} />}
    </>
  )
}
