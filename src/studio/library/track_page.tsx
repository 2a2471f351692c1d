import { isFinal } from '../../client/index.ts'
import { EventList } from '../activity/event_list.tsx'
import type { Client, Track } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { playTrack } from '../data/now_playing.ts'
import { useQuery } from '../data/query.ts'
import { useStore } from '../data/store.ts'
import { sentOf, uploadChanges, wasInterrupted } from '../data/uploads.ts'
import { forgetViews, isPlayable, usePlayView } from '../data/views.ts'
import { artistOf, clock, failureOf, fileTitle, infoOf, nameOf, percent, remedyFor } from '../format.ts'
import { go, href, type PageProperties } from '../route.ts'
import { Share } from '../sharing/share.tsx'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead, Tabs } from '../ui/page_head.tsx'
import { NotLoaded, NotRenewed } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { LookForm } from './look_form.tsx'
import { useTrackActions } from './track_actions.ts'
import { TrackDetails } from './track_details.tsx'

const TABS = [
  ['', 'Details'],
  ['look', 'Look'],
  ['share', 'Share'],
  ['events', 'Events'],
] as const
const PERIOD = 1200

/** The page of a track: its details, its appearance, how to share it, and its events. */
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

  if (!track) return <NotLoaded {...loaded} />
  return (
    <>
      <NotRenewed {...loaded} />
      <Head key={track.status} client={client} track={track} {...loaded} />
      <Tabs page="track" id={id} current={tab} tabs={TABS} />
      {tab === '' && <TrackDetails track={track} />}
      {tab === 'look' && (
        <LookForm
          scope="track"
          id={id}
          values={track}
          placeholder={fileTitle(track)}
          save={async (changes) => {
            const answer = await client.put('/v1/track/{track_id}', { params, body: changes })
            if (!answer.ok) return answer
            loaded.set(answer)
            return undefined
          }}
        />
      )}
      {tab === 'events' && (
        // The key reads the events again after a change of the status.
        <EventList key={track.status} filter={{ subject: `track:${id}` }} label="Events of this track" />
      )}
      {tab === 'share' && <Share scope="track" id={id} title={nameOf(track)} />}
    </>
  )
}

interface HeadProperties {
  client: Client
  track: Track
  reload: () => Promise<void>
  set: (answer: { ok: true; track_id: string; track: Track }) => void
}

/** Returns the status of a track as text. */
function statusTextOf(track: Track): string {
  const sent = sentOf(track)
  if (sent !== null) return `Uploading ${percent(sent)}`
  const info = infoOf(track)
  const texts: Record<Track['status'], string> = {
    initializing: wasInterrupted(track.id) ? 'The upload was interrupted' : 'Waiting for its file',
    processing: info.progress ? `Processing ${percent(info.progress)}` : 'In the queue',
    fallback_processing: `Damaged; trying again ${percent(info.progress ?? 0)}`,
    ready: clock(track.duration),
    incomplete: `${clock(track.duration)} · some variants are missing`,
    failed: failureOf(info),
  }
  return texts[track.status]
}

function Head({ client, track, reload, set }: HeadProperties) {
  const { collection_id } = track
  const view = usePlayView(track, true)
  const shared = useQuery({
    key: ['/v1/collection/{collection_id}/cover', collection_id],
    load: () => client.get('/v1/collection/{collection_id}/cover', { params: { collection_id } }),
  })
  useStore(uploadChanges)
  const remedy = track.status === 'initializing' ? 'send' : remedyFor(infoOf(track))
  const { reprocess, replace, remove } = useTrackActions({
    onChange: (track) => set({ ok: true, track_id: track.id, track }),
    onDelete: () => go('collection', collection_id),
    onRestore: () => go('track', track.id),
  })
  return (
    <PageHead
      back={{ href: href('collection', track.collection_id), label: 'Collection' }}
      title={nameOf(track)}
      note={[artistOf(track), statusTextOf(track)].filter(Boolean).join(' · ')}
      // A track that cannot be played yet has no play view, so the cover of its collection is shown.
      cover={isPlayable(track) ? view?.cover_image : shared.answer?.cover_image}
      handle={async () => {
        const made = await client.post('/v1/track/{track_id}/cover', { params: { track_id: track.id } })
        return made.ok ? { ok: true, handle: made.track_cover_upload } : made
      }}
      onCover={() => {
        forgetViews()
        return reload()
      }}
    >
      <Button
        kind="primary"
        icon="play"
        disabled={!isPlayable(track)}
        onClick={() => playTrack(client, 'collection', track.collection_id, track.id)}
      >
        Play
      </Button>
      {remedy === 'retry' ? (
        <Button onClick={() => reprocess(track)}>Process again</Button>
      ) : (
        sentOf(track) === null && (
          <Button icon="upload" onClick={() => replace(track)}>
            {remedy === 'send' ? 'Choose the file' : 'Replace file'}
          </Button>
        )
      )}
      <Menu
        label={`More for ${nameOf(track)}`}
        items={[
          ...(remedy === 'replace'
            ? [{ label: 'Process again', onSelect: () => reprocess(track) }]
            : [{ label: 'Replace the file …', onSelect: () => replace(track) }]),
          { label: 'Delete track', danger: true, onSelect: () => remove(track) },
        ]}
      />
    </PageHead>
  )
}
