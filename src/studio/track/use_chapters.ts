import { useMemo, useRef, useState } from 'preact/hooks'

import type { Chapter } from '../../contract/track.ts'
import type { Client, Failure, Track } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { sendVersioned } from '../data/versions.ts'
import { forgetViews } from '../data/views.ts'
import { explain, sentence } from '../format.ts'
import { t } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { draftOf, keepDraft } from '../ui/drafts.ts'
import { type ChapterRow, chaptersFrom, faultsOf, fileChapters, newRow, rowsFrom, sorted } from './chapter_rows.ts'

/** Rows that are not saved yet, and the chapters of the track when they were first changed, as JSON. */
interface Draft {
  rows: readonly ChapterRow[]
  base: string
}

function resumed(key: string): Draft | null {
  const draft = draftOf(key)
  if (!draft) return null
  const rows = JSON.parse(draft.text) as ChapterRow[]
  return { base: draft.base, rows: rows.map(({ time, title, rest }) => newRow(time, title, rest)) }
}

/** Saves chapters; null returns to those of the file. */
const send = (client: Client, track: Track, chapters: Chapter[] | null, onConflict: (track: Track) => void) =>
  sendVersioned(
    track,
    { chapters },
    (headers) => {
      const request = { params: { track_id: track.id }, headers }
      return chapters
        ? client.put('/v1/track/{track_id}/chapters', { ...request, body: { chapters } })
        : client.delete('/v1/track/{track_id}/chapters', request)
    },
    onConflict,
  )

/** Returns the messages of a failure for rows that were sent, by key, and one for the rest. */
function refusalOf(failure: Failure, rows: readonly ChapterRow[]) {
  const faults = new Map<number, string>()
  for (const { path, message } of failure.errors ?? []) {
    const row = rows[Number(/^chapters\.(\d+)/.exec(path)?.[1])]
    if (row) faults.set(row.key, sentence(message))
  }
  return { faults, problem: faults.size > 0 ? '' : explain(failure) }
}
const NOTHING_REFUSED = { faults: new Map<number, string>(), problem: '' }

/** The editing of a track's chapters. The rows are kept in the session storage until they are saved or discarded. */
export function useChapters(track: Track, onChange: (track: Track) => void) {
  const client = useClient()
  const name = `track/${track.id}/chapters`
  const current = JSON.stringify(track.chapters)
  const ofFile = JSON.stringify(fileChapters(track))
  const saved = useMemo(() => rowsFrom(track.chapters ?? fileChapters(track)), [current, ofFile])
  const [draft, setDraft] = useState(() => resumed(name))
  const [refused, setRefused] = useState(NOTHING_REFUSED)
  const latest = useRef(draft)
  latest.current = draft
  const rows = draft?.rows ?? saved
  const isChanged = (rows: readonly ChapterRow[]) =>
    rows.length !== chaptersFrom(rows).length ||
    JSON.stringify(chaptersFrom(rows)) !== JSON.stringify(chaptersFrom(saved))

  function keep(next: Draft | null) {
    setDraft((latest.current = next))
    setRefused(NOTHING_REFUSED)
    const { rows, base } = next ?? { rows: [], base: '' }
    keepDraft(name, next && isChanged(rows) ? { text: JSON.stringify(rows), base } : null)
  }
  const edit = (change: (rows: readonly ChapterRow[]) => readonly ChapterRow[]) =>
    keep({ rows: change(latest.current?.rows ?? saved), base: latest.current?.base ?? current })

  async function write(chapters: Chapter[] | null, text: string) {
    const answer = await send(client, track, chapters, onChange)
    if (!answer.ok) return answer
    onChange(answer.track)
    forgetViews()
    announce(text, { label: t('Undo'), run: () => restore(answer.track, track.chapters) })
    return answer
  }
  async function restore(from: Track, chapters: Chapter[] | null) {
    const answer = await send(client, from, chapters, onChange)
    if (!answer.ok) return announce(explain(answer))
    onChange(answer.track)
    forgetViews()
    announce(t('The previous chapters are back'))
  }
  async function sendRows(base: string) {
    const sent = sorted(rows)
    const tried: Draft = { rows: sent, base }
    keep(tried)
    if (faultsOf(sent, track.duration).size > 0) return
    const chapters = chaptersFrom(sent)
    const isNone = chapters.length === 0 && ofFile === '[]'
    const answer = await write(isNone ? null : chapters, t('Chapters saved'))
    if (!answer.ok) {
      if (answer.code !== 'version_mismatch') setRefused(refusalOf(answer, sent))
    } else if (latest.current === tried) keep(null)
    else if (latest.current) keep({ ...latest.current, base: JSON.stringify(answer.track.chapters) })
  }
  const isConflict = draft !== null && isChanged(rows) && draft.base !== current
  return {
    rows,
    refused,
    isChanged: draft !== null && isChanged(rows),
    /** Whether someone else has changed the chapters since the editing started. */
    isConflict,
    canRevert: track.chapters !== null && ofFile !== '[]',
    edit,
    /** Saves the rows unless one of them is wrong, or there is a conflict. */
    save: async () => isConflict || sendRows(draft?.base ?? current),
    /** Saves the rows after a conflict. */
    overwrite: () => sendRows(current),
    discard: () => {
      const discarded = draft
      keep(null)
      announce(t('Changes discarded'), { label: t('Undo'), run: () => keep(discarded) })
    },
    /** Returns to the chapters of the file. */
    revert: async () => {
      const answer = await write(null, t('The chapters of the file are used again'))
      if (answer.ok) keep(null)
      else announce(explain(answer))
    },
  }
}

export type ChapterEditing = ReturnType<typeof useChapters>
