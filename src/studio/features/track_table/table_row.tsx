import { useMemo } from 'preact/hooks'

import { formatClock, date, percent, signed } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { localeOf, t, uploaderTexts } from '../../base/text.ts'
import { usesTags } from '../../data/organization.ts'
import type { TrackRow } from '../../data/track_rows.ts'
import { artistOf, failureOf, nameOf, remedyFor } from '../../data/track_text.ts'
import { wasInterrupted } from '../../data/uploads.ts'
import { isPlayable } from '../../data/views.ts'
import { Ring } from '../../ui/charts/ring.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Icon } from '../../ui/controls/icon.tsx'
import { Menu, type MenuItem } from '../../ui/controls/menu.tsx'
import type { Handle } from '../../ui/lists/reorder.ts'
import { Cell, place } from './row_parts.tsx'
import { Wave } from './wave.tsx'

/** The actions of the user on a row. */
export interface RowActions {
  play: (row: TrackRow, start?: number) => unknown
  pick: (row: TrackRow, at: number, event: MouseEvent) => unknown
  menuOf: (row: TrackRow, at: number) => MenuItem[]
  retry: (row: TrackRow) => unknown
  replace: (row: TrackRow) => unknown
}

interface Properties {
  row: TrackRow
  at: number
  height: number
  /** Only if the rows can be moved. */
  handle: Handle | null
  /** Whether the row has the number of its place. */
  isNumbered: boolean
  look: string
  playing: 'playing' | 'paused' | null
  /** Whether the row is the Tab stop of the table. */
  isStop: boolean
  isPicked: boolean
  /** The fraction of the file that this tab has sent, which is 1 until the service has noticed the file; null if it is not sending one. */
  sent: number | null
  /** The subtitle of tracks without their own. */
  subtitle: string | undefined
  hasAlbum: boolean
  actions: RowActions
}

/** A track in a table. Its controls are no Tab stops: the row has keys for them. */
export function TableRow(properties: Properties) {
  const { row, at, height, look, playing, isStop, isPicked, sent, handle, actions } = properties
  // The parts of a row that has not changed are not compared again when the table is scrolled.
  return useMemo(
    () => (
      <div
        role="row"
        class={`track ${look} ${playing ? 'current' : ''} ${isPicked ? 'picked' : ''}`}
        style={place(at, height)}
        data-row
        data-at={at}
        data-status={row.status}
        aria-rowindex={at + 2}
        aria-selected={isPicked}
        aria-current={playing ? 'true' : undefined}
        tabIndex={isStop ? 0 : -1}
      >
        <Cells {...properties} />
      </div>
    ),
    [
      row,
      at,
      height,
      look,
      playing,
      isStop,
      isPicked,
      sent,
      Boolean(handle),
      actions,
      properties.subtitle,
      // Texts depend on the language, and names on a setting of the organization.
      localeOf(),
      usesTags(),
    ],
  )
}

function Cells(properties: Properties) {
  const { row, at, playing, sent, subtitle, hasAlbum, actions } = properties
  const name = nameOf(row)
  const isDone = sent === null && (row.status === 'ready' || row.status === 'incomplete')
  const loudness = row.loudness?.integrated_lufs
  return (
    <>
      <FirstCells {...properties} name={name} />
      <Cell name="track-text">
        <a class="name" href={href('track', row.id)} tabIndex={-1} dir="auto">
          {name}
        </a>
        {isDone ? <Soft text={artistOf(row) || subtitle} /> : <State row={row} sent={sent} />}
      </Cell>
      {hasAlbum && (
        <Cell name="album">
          {row.collection && (
            <a href={href('collection', row.collection_id)} tabIndex={-1} dir="auto">
              {row.collection.title}
            </a>
          )}
        </Cell>
      )}
      <Cell name="wave-cell">
        {isDone ? (
          <Wave
            path={row.wave}
            isCurrent={playing !== null}
            onSeek={(fraction) => actions.play(row, fraction * row.duration)}
          />
        ) : (
          <Remedy row={row} sent={sent} actions={actions} />
        )}
      </Cell>
      <Cell name="duration">{isDone && formatClock(row.duration)}</Cell>
      <Cell name="loudness">{isDone && typeof loudness === 'number' && signed(loudness, 'LUFS')}</Cell>
      <Cell name="added">
        <time dateTime={row.created_at}>{date(row.created_at)}</time>
      </Cell>
      <Cell name="status">
        <Status row={row} sent={sent} name={name} />
      </Cell>
      <Cell name="more">
        <Menu label={t('More for {name}', { name })} items={() => actions.menuOf(row, at)} tabIndex={-1} />
      </Cell>
    </>
  )
}

/** The cells before the title. */
function FirstCells({ row, at, handle, isNumbered, playing, isPicked, actions, name }: Properties & { name: string }) {
  return (
    <>
      <Cell name="pick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t('Select {name}', { name })}
          checked={isPicked}
          onClick={(event) => {
            event.stopPropagation()
            actions.pick(row, at, event)
          }}
        />
      </Cell>
      {isNumbered && (
        <Cell name="number">
          {handle ? (
            <button type="button" class="grip" tabIndex={-1} {...handle}>
              <span data-place={at + 1} />
              <Icon name="grip" />
            </button>
          ) : (
            at + 1
          )}
        </Cell>
      )}
      <Cell name="art">
        {row.cover && <img src={row.cover} alt="" width="32" height="32" decoding="async" />}
        <button
          type="button"
          class="play"
          tabIndex={-1}
          aria-label={playing === 'playing' ? t('Pause {name}', { name }) : t('Play {name}', { name })}
          disabled={!isPlayable(row)}
          onClick={() => actions.play(row)}
        >
          <Icon name={playing === 'playing' ? 'pause' : 'play'} />
        </button>
      </Cell>
    </>
  )
}

const Soft = ({ text }: { text: string | null | undefined }) =>
  text ? (
    <span class="soft" dir="auto">
      {text}
    </span>
  ) : null

/** Returns what happens with a track that is not ready, or the reason of its failure. */
function stateOf({ id, status, duration, file_name, state }: TrackRow, sent: number | null): string {
  if (sent === 1) return uploaderTexts().finishing
  if (sent !== null) return t('Uploading {percent}', { percent: percent(sent) })
  if (status === 'failed') return failureOf({ error: state?.error })
  if (status === 'initializing')
    return wasInterrupted(id)
      ? t('The upload was interrupted. Choose {file} again to send it.', { file: file_name })
      : t('Waiting for its file')
  const progress = { percent: percent(state?.progress ?? 0) }
  if (status === 'fallback_processing') return t('Damaged; trying again {percent}', progress)
  if (!state?.progress) return t('In the queue')
  return isPlayable({ status, duration })
    ? t('Processing {percent} · plays already', progress)
    : t('Processing {percent}', progress)
}

function State({ row, sent }: { row: TrackRow; sent: number | null }) {
  const text = stateOf(row, sent)
  const isFailed = sent === null && row.status === 'failed'
  const isBad = isFailed || (sent === null && row.status === 'initializing' && wasInterrupted(row.id))
  return (
    <span class={isBad ? 'note failed' : 'note'} title={text}>
      {isFailed && <strong>{t('Failed')} · </strong>}
      {text}
    </span>
  )
}

/** The button that helps a track without audio. */
function Remedy({ row, sent, actions }: { row: TrackRow; sent: number | null; actions: RowActions }) {
  const { status, file_name, state } = row
  if (sent !== null || (status !== 'failed' && status !== 'initializing')) return null
  const remedy = status === 'initializing' ? 'send' : remedyFor({ error: state?.error ?? undefined })
  if (remedy === 'send') {
    return (
      <Button
        small
        icon="upload"
        tabIndex={-1}
        label={t('Choose the file: {file}', { file: file_name })}
        onClick={() => actions.replace(row)}
      >
        {t('Choose the file')}
      </Button>
    )
  }
  return remedy === 'retry' ? (
    <Button small tabIndex={-1} onClick={() => actions.retry(row)}>
      {t('Try again')}
    </Button>
  ) : (
    <Button small icon="upload" tabIndex={-1} label={t('Replace file')} onClick={() => actions.replace(row)}>
      {t('Replace file')}
    </Button>
  )
}

interface StatusProperties {
  row: TrackRow
  sent: number | null
  name: string
}

function Status({ row: { id, status, state }, sent, name }: StatusProperties) {
  if (sent !== null) return <Ring value={sent} label={t('Upload of {name}', { name })} />
  if (status === 'processing' || status === 'fallback_processing')
    return <Ring value={state?.progress ?? 0} label={t('Processing of {name}', { name })} />
  if (status === 'failed') return <Icon name="warning" />
  if (!state?.warnings) return null
  return (
    <a class="warn" href={href('track', id)} tabIndex={-1} aria-label={t('{name}: look at the warnings', { name })}>
      <Icon name="warning" />
    </a>
  )
}
