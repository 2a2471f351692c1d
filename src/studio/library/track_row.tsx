import type { Listed, Track } from '../api.ts'
import { nowPlaying } from '../data/now_playing.ts'
import { useStore } from '../data/store.ts'
import { sentOf, wasInterrupted } from '../data/uploads.ts'
import { isPlayable, usePlayView, useTrackInfo } from '../data/views.ts'
import { artistOf, clock, failureOf, infoOf, nameOf, percent, remedyFor, signed } from '../format.ts'
import { href } from '../route.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import type { Handle } from '../ui/reorder.ts'
import { Thumb } from '../ui/thumb.tsx'
import { useVisible } from '../ui/visible.ts'

interface Properties {
  track: Listed
  /** The details of the track while it is being processed. */
  detail?: Track | undefined
  place: number
  handle: Handle
  look: string
  onPlay: () => unknown
  menu: MenuItem[]
  /** The actions after a failure: `onRetry` for the same file, `onReplace` for another one. */
  onRetry?: (() => unknown) | undefined
  onReplace?: (() => unknown) | undefined
}

/** A track in a list, with its place, waveform, status and actions. */
export function TrackRow({ track, detail, place, handle, look, onPlay, menu, onRetry, onReplace }: Properties) {
  const [ref, visible] = useVisible<HTMLLIElement>()
  const view = usePlayView(track, visible)
  // The last poll during the processing is recent enough, so nothing else is read.
  const fresh = detail?.status === track.status ? detail : undefined
  const read = useTrackInfo(track, visible && !fresh)
  const known = fresh ?? read ?? undefined
  const now = useStore(nowPlaying)
  const info = infoOf(known)
  const name = nameOf(track)
  const current = now?.track_id === track.id
  const loudness = info.loudness?.integrated_lufs
  const subtitle = artistOf(track) || view?.track.player_subtitle
  const sent = sentOf(track)
  const warnings = (info.warnings?.length ?? 0) + (info.failed_variants?.length ?? 0)

  return (
    <li
      ref={ref}
      data-row
      data-status={track.status}
      class={`track ${look} ${current ? 'current' : ''}`}
      aria-current={current ? 'true' : undefined}
    >
      <button type="button" class="grip" {...handle}>
        <Icon name="grip" />
      </button>
      <button
        type="button"
        class="play"
        aria-label={current && now?.playing ? `Pause ${name}` : `Play ${name}`}
        disabled={!isPlayable(track)}
        onClick={onPlay}
      >
        <span class="place" data-place={place} />
        <Icon name={current && now?.playing ? 'pause' : 'play'} />
      </button>
      <span class="track-text">
        <a class="name" href={href('track', track.id)}>
          {name}
        </a>
        {subtitle && <span class="soft">{subtitle}</span>}
      </span>
      {sent === null && (track.status === 'ready' || track.status === 'incomplete') ? (
        <>
          <span class="thumb-place">{view && <Thumb levels={view.levels.levels} current={current} />}</span>
          <span class="loudness soft" title="Integrated loudness (EBU R 128)">
            {typeof loudness === 'number' ? signed(loudness, 'LUFS') : ''}
          </span>
          <span class="duration">
            {warnings > 0 && (
              <a class="warn" href={href('track', track.id)} aria-label={`${name}: look at the warnings`}>
                <Icon name="warning" />
              </a>
            )}
            {clock(track.duration)}
          </span>
        </>
      ) : (
        <State track={track} known={known} sent={sent} onRetry={onRetry} onReplace={onReplace} />
      )}
      <Menu label={`More for ${name}`} items={menu} />
    </li>
  )
}

interface StateProperties extends Pick<Properties, 'track' | 'onRetry' | 'onReplace'> {
  known: Track | undefined
  sent: number | null
}

/** The progress of a track, or the reason of its failure. */
function State({ track, known, sent, onRetry, onReplace }: StateProperties) {
  const info = infoOf(known)
  const choose = onReplace && (
    <Button small icon="upload" label={`Choose the file: ${track.file_name}`} onClick={onReplace}>
      Choose the file
    </Button>
  )
  if (sent === null && track.status === 'initializing') {
    return (
      <span class={wasInterrupted(track.id) ? 'state failed' : 'state'}>
        {wasInterrupted(track.id) ? (
          <span class="note">
            <strong>The upload was interrupted.</strong> Choose {track.file_name} again to send it.
          </span>
        ) : (
          <span class="note">Waiting for its file</span>
        )}
        {choose}
      </span>
    )
  }
  if (sent === null && track.status === 'failed') {
    const remedy = remedyFor(info)
    const act = remedy === 'retry' ? onRetry : onReplace
    return (
      <span class="state failed">
        <span class="note">
          <strong>Failed.</strong> {known && failureOf(info)}
        </span>
        {/* The remedy depends on the reason, which must be read first. */}
        {known &&
          (remedy === 'send'
            ? choose
            : act && (
                <Button small onClick={act}>
                  {remedy === 'retry' ? 'Try again' : 'Replace file'}
                </Button>
              ))}
      </span>
    )
  }
  const progress = info.progress ?? 0
  const text =
    sent !== null
      ? `Uploading ${percent(sent)}`
      : progress === 0
        ? 'In the queue'
        : `${track.status === 'processing' ? 'Processing' : 'Damaged; trying again'} ${percent(progress)}`
  return (
    <span class="state">
      <span class="note">
        {text}
        {isPlayable(track) && ' · plays already'}
      </span>
      <progress
        max="1"
        value={sent ?? progress}
        aria-label={`${sent === null ? 'Processing' : 'Upload'} of ${nameOf(track)}`}
      />
    </span>
  )
}
