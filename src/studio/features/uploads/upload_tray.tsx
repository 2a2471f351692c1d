import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../../client/upload/accept.ts'
import { statusOf } from '../../../elements/shared/upload_status.ts'
import { explain, joined, percent } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { clearEnded, followJob, jobs, type JobTrack } from '../../data/jobs.ts'
import { useStore } from '../../data/store.ts'
import { failureOf, nameOf, remedyFor } from '../../data/track_text.ts'
import { allUploads, sendFor, uploadLanguage } from '../../data/uploads.ts'
import { Ring } from '../../ui/charts/ring.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { chooseFile } from '../../ui/controls/choose_file.ts'
import { announce } from '../../ui/page/announce.ts'
import { placeOf } from './estimate.ts'
import { useSummary } from './use_summary.ts'

/** The number of rows that are shown. */
const SHOWN = 100

type Upload = ReturnType<typeof allUploads>[number]

/** All uploads and jobs: failures first, then what is sent and processed, then what is ready. */
export function UploadTray({ onClose }: { onClose: () => void }) {
  const { failed, ready } = useSummary()
  const { running, ended, wait } = useStore(jobs)
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus(), [])
  const uploads = allUploads()
  const isFailed = ({ item: { state } }: Upload) => state === 'failed' || state === 'rejected'
  const waiting = running.filter(({ state }) => !state?.progress)
  const upload = (entry: Upload) => <UploadEntry key={entry.item.id} {...entry} />
  const rows = [
    ...uploads.filter(isFailed).map(upload),
    ...ended.filter(({ status }) => status === 'failed').map((track) => <Failed key={track.id} track={track} />),
    ...uploads.filter((entry) => !isFailed(entry)).map(upload),
    ...running.map((track) => {
      const at = waiting.indexOf(track)
      return <Running key={track.id} track={track} before={placeOf(at, waiting.length, wait?.before)} />
    }),
    ...ended.filter(({ status }) => status !== 'failed').map((track) => <Ready key={track.id} track={track} />),
  ]
  function clear() {
    clearEnded()
    for (const { item, queue } of uploads) if (item.isSettled) queue.remove(item)
    // The button disappears with its focus.
    panel.current?.focus()
  }
  return (
    <section
      ref={panel}
      class="upload-tray"
      tabIndex={-1}
      aria-labelledby="tray-title"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
      }}
    >
      <header>
        <h2 id="tray-title">{t('Uploads')}</h2>
        {failed + ready > 0 && (
          <Button small onClick={clear}>
            {t('Clear finished')}
          </Button>
        )}
        <Button kind="quiet" small icon="close" label={t('Close')} onClick={onClose} />
      </header>
      {rows.length === 0 && <p class="soft">{t('Nothing is uploaded or processed.')}</p>}
      <ul>{rows.slice(0, SHOWN)}</ul>
      {rows.length > SHOWN && (
        <p class="soft">{tn({ one: '{n} more file', other: '{n} more files' }, rows.length - SHOWN)}</p>
      )}
    </section>
  )
}

interface RowProperties {
  name: ComponentChildren
  note: string
  isBad?: boolean | undefined
  /** 0–1. */
  progress?: number | undefined
  label?: string
  children?: ComponentChildren
}

const Row = ({ name, note, isBad, progress, label = '', children }: RowProperties) => (
  <li class={isBad ? 'failed' : ''}>
    <span class="tray-text">
      <span class="name" dir="auto">
        {name}
      </span>
      <span class={isBad ? 'note failed' : 'note'}>{note}</span>
    </span>
    {progress !== undefined && <Ring value={progress} label={label} />}
    {children}
  </li>
)

/** A file that is sent, or could not be sent. */
function UploadEntry({ item, queue }: Upload) {
  const { text, isProblem } = statusOf(item, uploadLanguage())
  const { name } = item
  return (
    <Row
      name={name}
      note={text}
      isBad={isProblem}
      progress={item.isUnsent ? item.fraction : undefined}
      label={t('Upload of {name}', { name })}
    >
      {item.state === 'failed' && item.retriable && (
        <Button small label={t('Try again: {name}', { name })} onClick={() => queue.retry(item)}>
          {t('Try again')}
        </Button>
      )}
      <Button
        kind="quiet"
        small
        icon="close"
        label={item.isUnsent ? t('Cancel the upload of {name}', { name }) : t('Remove {name}', { name })}
        onClick={() => queue.remove(item)}
      />
    </Row>
  )
}

const Title = ({ track }: { track: JobTrack }) => <a href={href('track', track.id)}>{nameOf(track)}</a>

/** A track that is processed, or waits for that. */
function Running({ track, before }: { track: JobTrack; before: number }) {
  const progress = track.state?.progress ?? 0
  const waits =
    before === 0
      ? t('Next in the queue')
      : tn({ one: 'In the queue, {n} file is before it', other: 'In the queue, {n} files are before it' }, before)
  return (
    <Row
      name={<Title track={track} />}
      note={progress > 0 ? t('Processing {percent}', { percent: percent(progress) }) : waits}
      progress={progress}
      label={t('Processing of {name}', { name: nameOf(track) })}
    />
  )
}

function Failed({ track }: { track: JobTrack }) {
  const connection = useConnection()
  const info = track.state?.error ? { error: track.state.error } : {}
  async function retry() {
    const answer = await connection.client.post('/v1/track/{track_id}/reprocess', { params: { track_id: track.id } })
    if (answer.ok) followJob(track)
    else announce(explain(answer))
  }
  async function replace() {
    const file = await chooseFile(DEFAULT_ACCEPT)
    const answer = file && (await sendFor(connection, track, file))
    if (answer && !answer.ok) announce(explain(answer))
  }
  return (
    <Row name={<Title track={track} />} note={failureOf(info)} isBad>
      {remedyFor(info) === 'retry' ? (
        <Button small onClick={retry}>
          {t('Try again')}
        </Button>
      ) : (
        <Button small onClick={replace}>
          {t('Replace file')}
        </Button>
      )}
    </Row>
  )
}

const Ready = ({ track }: { track: JobTrack }) => (
  <Row name={<Title track={track} />} note={joined([t('Ready'), track.collection?.title])} />
)
