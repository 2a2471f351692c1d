import { useState } from 'preact/hooks'

import { isFinal } from '../../../client/index.ts'
import type { PlayView, Track } from '../../base/api.ts'
import { go, type PageProperties } from '../../base/route.ts'
import { failureText, t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { useStore } from '../../data/store.ts'
import { infoOf, nameOf } from '../../data/track_text.ts'
import { sentOf, uploadChanges } from '../../data/uploads.ts'
import { sendVersioned } from '../../data/versions.ts'
import { forgetViews, isPlayable, usePlayView } from '../../data/views.ts'
import { Fold } from '../../ui/controls/fold.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { ThingNotLoaded, NotRenewed } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { EventList } from '../activity/event_list.tsx'
import { LookForm } from '../library/look_form.tsx'
import { EditTracks } from '../track_table/edit_tracks.tsx'
import { useTrackActions } from '../track_table/track_actions.ts'
import { chaptersFrom, marksOf } from './chapter_rows.ts'
import { Chapters } from './chapters.tsx'
import { Compare } from './compare.tsx'
import { Credits } from './credits.tsx'
import { EpisodeForm } from './episode_form.tsx'
import { Facts } from './facts.tsx'
import { FailedCard } from './failed.tsx'
import { Files } from './files.tsx'
import { Hero } from './hero.tsx'
import { Retention } from './retention.tsx'
import { TrackHead } from './track_head.tsx'
import { useChapters } from './use_chapters.ts'
import { useFiles } from './use_files.ts'

const PERIOD = 1200

type TrackChanges = Partial<
  Pick<
    Track,
    'player_title' | 'player_subtitle' | 'player_color' | 'is_cover_overridable' | 'is_theme_overridable' | 'episode'
  >
>

/** The page of a track: its sound, its files, its credits and its activity. */
export function TrackPage({ id, tab }: PageProperties) {
  const client = useClient()
  const params = { track_id: id }
  const loaded = useQuery({
    key: ['/v1/track/{track_id}', id],
    load: () => client.get('/v1/track/{track_id}', { params }),
    every: ({ track }) => (isFinal(track) ? null : PERIOD),
  })
  const track = loaded.answer?.track
  useTitle(track && nameOf(track))
  if (!track) return <ThingNotLoaded {...loaded} />
  return (
    <>
      <NotRenewed {...loaded} />
      <Content
        track={track}
        tab={tab}
        reload={loaded.reload}
        onChange={(track) => loaded.set({ ok: true, track_id: track.id, track })}
      />
    </>
  )
}

interface Properties {
  track: Track
  tab: string
  reload: () => Promise<void>
  onChange: (track: Track) => void
}

function Content({ track, tab, reload, onChange }: Properties) {
  const client = useClient()
  const { id, collection_id } = track
  const files = useFiles(track)
  const view = usePlayView(track)
  const collection = useQuery({
    key: ['/v1/collection/{collection_id}', collection_id],
    load: () => client.get('/v1/collection/{collection_id}', { params: { collection_id } }),
  }).answer?.collection
  const actions = useTrackActions({
    onChange,
    onDelete: () => go('collection', collection_id),
    onRestore: () => go('track', id),
  })
  const [isEditing, setEditing] = useState(false)
  const problems = problemsOf(track)

  async function save(changes: TrackChanges) {
    const params = { track_id: id }
    const answer = await sendVersioned(
      track,
      changes,
      (headers) => client.put('/v1/track/{track_id}', { params, headers, body: changes }),
      onChange,
    )
    if (!answer.ok) return answer
    onChange(answer.track)
    forgetViews()
    return undefined
  }
  useStore(uploadChanges)
  const isSending = sentOf(track) !== null
  // A track that gets its first file has no sound yet.
  const isUnusable = track.status === 'failed' || track.status === 'initializing'
  return (
    <>
      <TrackHead {...{ track, collection, view, files, actions, save, reload }} />
      {isUnusable && !isSending && (
        <FailedCard track={track} onRetry={() => actions.reprocess(track)} onReplace={() => actions.replace(track)} />
      )}
      {isPlayable(track) && <Sound track={track} view={view} onChange={onChange} />}
      {problems.length > 0 && (
        <section class="warnings" aria-labelledby="problems-title">
          <h2 id="problems-title">{t('Warnings')}</h2>
          <ul>
            {problems.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <div class="columns">
        {!isUnusable && (
          <div class="column">
            <Facts track={track} />
            <Compare track={track} files={files.files ?? []} />
            <Files track={track} {...files} />
          </div>
        )}
        <div class="column aside">
          {!isUnusable && <Credits track={track} collection={collection} onEdit={() => setEditing(true)} />}
          {!isUnusable && (
            <Fold title={t('Look')} isOpen={tab === 'look'}>
              <LookForm scope="track" id={id} values={track} palette={view?.track.image_colors} save={save} />
            </Fold>
          )}
          <EpisodeForm track={track} isOpen={tab === 'episode'} save={save} />
          <Ids track={track} />
        </div>
        <section class="part rest" aria-labelledby="activity-title">
          <h2 id="activity-title">{t('Activity')}</h2>
          {/* The key reads the events again after a change of the status. */}
          <EventList key={track.status} filter={{ subject: `track:${id}` }} label={t('Events of this track')} />
        </section>
      </div>
      {isEditing && <EditTracks tracks={[track]} onChange={reload} onClose={() => setEditing(false)} />}
    </>
  )
}

interface SoundProperties extends Pick<Properties, 'track' | 'onChange'> {
  view: PlayView | null
}

/** The waveform of a track, and its chapters, which the waveform shows while they are edited. */
function Sound({ track, view, onChange }: SoundProperties) {
  const editing = useChapters(track, onChange)
  const chapters = marksOf(chaptersFrom(editing.rows), track.duration)
  return (
    <>
      <Hero track={track} view={view} chapters={chapters} />
      <Retention track={track} chapters={chapters} />
      <Chapters track={track} editing={editing} />
    </>
  )
}

/** Returns the losses of a track that can be played, and why a variant is missing. */
function problemsOf(track: Track): string[] {
  const { error, failed_variants = [], warnings = [] } = infoOf(track)
  return [
    ...(error && track.status !== 'failed' ? [failureText(error)] : []),
    ...failed_variants.map(({ index, message }) => `${index}: ${message}`),
    ...warnings.map(failureText),
  ]
}

const Ids = ({ track }: { track: Track }) => (
  <Fold title={t('Ids for developers')}>
    <Copyable label={t('Track')} value={track.id} />
    <Copyable label={t('Collection')} value={track.collection_id} />
    <Copyable
      label={t('Try it')}
      value={`curl -H "Authorization: Bearer $KEY" ${location.origin}/v1/track/${track.id}`}
    />
  </Fold>
)
