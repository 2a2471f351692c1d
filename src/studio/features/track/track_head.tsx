import type { Collection, Failure, Track } from '../../base/api.ts'
import type { PlayView } from '../../base/api.ts'
import { bytes, length, percent } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, playTrack } from '../../data/now_playing.ts'
import { useQuery } from '../../data/query.ts'
import { useStore } from '../../data/store.ts'
import { artistOf, fileTitle, infoOf, nameOf } from '../../data/track_text.ts'
import { sentOf } from '../../data/uploads.ts'
import { forgetViews, isPlayable } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { EditHead } from '../../ui/edit/edit_head.tsx'
import { PageHead } from '../../ui/page/page_head.tsx'
import { openShare } from '../sharing/open_share.ts'
import type { useTrackActions } from '../track_table/track_actions.ts'
import { downloadFile, type TrackFiles } from './use_files.ts'

type Changes = Partial<Pick<Track, 'player_title' | 'player_subtitle'>>

interface Properties {
  track: Track
  collection: Collection | undefined
  view: PlayView | null
  files: TrackFiles
  actions: ReturnType<typeof useTrackActions>
  save: (changes: Changes) => Promise<Failure | undefined>
  reload: () => Promise<void>
}

/** Returns the progress of a track that is not finished; an empty text for others. */
function progressOf(track: Track): string {
  const sent = sentOf(track)
  if (sent !== null) return t('Uploading {progress}', { progress: percent(sent) })
  const { progress, waiting } = infoOf(track)
  if (track.status === 'processing' && !progress) {
    if (!waiting) return t('In the queue')
    const files = tn({ one: '{n} file before it', other: '{n} files before it' }, waiting.before)
    return t('In the queue: {files}, about {time}', { files, time: length(waiting.seconds) })
  }
  const shown = percent(progress ?? 0)
  if (track.status === 'processing') return t('Processing {progress}', { progress: shown })
  return track.status === 'fallback_processing' ? t('Damaged; trying again {progress}', { progress: shown }) : ''
}

/** The head of a track's page: title and artist, which are edited here, and its actions. */
export function TrackHead({ track, collection, view, files, actions, save, reload }: Properties) {
  const client = useClient()
  const params = { track_id: track.id }
  const inherited = useQuery({
    key: ['/v1/collection/{collection_id}/cover', track.collection_id],
    load: () => client.get('/v1/collection/{collection_id}/cover', { params: { collection_id: track.collection_id } }),
  })
  const name = nameOf(track)
  const progress = progressOf(track)
  const isSending = sentOf(track) !== null
  return (
    <PageHead
      back={{ href: href('collection', track.collection_id), label: collection?.title ?? t('Collection') }}
      title={name}
      heading={
        <EditHead
          draft={`track/${track.id}`}
          title={name}
          defaultTitle={fileTitle(track)}
          subtitle={artistOf(track) ?? ''}
          subtitleLabel={t('Artist')}
          addSubtitle={t('Add an artist')}
          saveTitle={(title) => save({ player_title: title || null })}
          saveSubtitle={(artist) => save({ player_subtitle: artist || null })}
        />
      }
      note={progress && (isPlayable(track) ? t('{progress}. It can be played already.', { progress }) : progress)}
      // A track that cannot be played yet has no play view, so the cover of its collection is shown.
      cover={view?.cover_image ?? (isPlayable(track) ? undefined : inherited.answer?.cover_image)}
      handle={async () => {
        const made = await client.post('/v1/track/{track_id}/cover', { params })
        return made.ok ? { ok: true, handle: made.track_cover_upload } : made
      }}
      onCover={() => {
        forgetViews()
        return reload()
      }}
    >
      {isPlayable(track) && <PlayButton track={track} />}
      {track.status !== 'failed' && (
        <Button kind="primary" icon="share" onClick={() => openShare({ scope: 'track', id: track.id, title: name })}>
          {t('Share')}
        </Button>
      )}
      {files.files && files.files.length > 0 && (
        <Menu
          label={t('Download {name}', { name })}
          text={t('Download')}
          icon="download"
          items={files.files.map(({ index, name, size }) => ({
            label: t('{name}, {size}', { name, size: bytes(size) }),
            onSelect: () => downloadFile(client, track.id, files.files ?? [], index),
          }))}
        />
      )}
      {isPlayable(track) && !isSending && (
        <Button icon="upload" onClick={() => actions.replace(track)}>
          {t('Replace file')}
        </Button>
      )}
      <Menu
        label={t('More for {name}', { name })}
        items={[
          ...(isSending ? [{ label: t('Replace the file …'), onSelect: () => actions.replace(track) }] : []),
          { label: t('Process again'), onSelect: () => actions.reprocess(track) },
          { label: t('Delete track'), danger: true, onSelect: () => actions.remove(track) },
        ]}
      />
    </PageHead>
  )
}

function PlayButton({ track }: { track: Track }) {
  const client = useClient()
  const now = useStore(nowPlaying)
  const isPlaying = now?.track_id === track.id && now.playing
  return (
    <Button
      icon={isPlaying ? 'pause' : 'play'}
      onClick={() => playTrack(client, 'collection', track.collection_id, track.id)}
    >
      {isPlaying ? t('Pause') : t('Play')}
    </Button>
  )
}
