import { useMemo, useRef, useState } from 'preact/hooks'

import type { Chapter } from '../../../contract/chapter.ts'
import type { Client, Failure, Track } from '../../base/api.ts'
import { explain, sentence } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { sendVersioned } from '../../data/versions.ts'
import { forgetViews } from '../../data/views.ts'
import { draftOf, keepDraft } from '../../ui/edit/drafts.ts'
import { announce, type Offer, withdraw } from '../../ui/page/announce.ts'
import { type ChapterRow, chaptersFrom, faultsOf, fileChapters, newRow, rowsFrom, settled } from './chapter_rows.ts'

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

/** Whether rows are not the given chapters, or one of them has no valid time. */
const differs = (rows: readonly ChapterRow[], chapters: readonly Chapter[]) =>
  rows.length !== chapters.length ||
  JSON.stringify(chaptersFrom(rows)) !== JSON.stringify(chaptersFrom(rowsFrom(chapters)))

/** The rows that are not saved yet, which the session storage keeps, and the faults that the service found in them. */
function useDraft(track: Track, saved: readonly ChapterRow[]) {
  const name = `track/${track.id}/chapters`
  const [draft, setDraft] = useState(() => resumed(name))
  const [refused, setRefused] = useState(NOTHING_REFUSED)
  const latest = useRef(draft)
  latest.current = draft
  const undo = useRef<Offer | null>(null)

  function keep(next: Draft | null) {
    if (undo.current) withdraw(undo.current)
    setDraft((latest.current = next))
    setRefused(NOTHING_REFUSED)
    const isKept = next && differs(next.rows, JSON.parse(next.base) ?? fileChapters(track))
    keepDraft(name, isKept ? { text: JSON.stringify(next.rows), base: next.base } : null)
  }
  const edit = (change: (rows: readonly ChapterRow[]) => readonly ChapterRow[]) =>
    keep({
      rows: change(latest.current?.rows ?? saved),
      base: latest.current?.base ?? JSON.stringify(track.chapters),
    })
  /** Makes a change, and offers to undo it until the next one. */
  function offerUndo(change: () => void, text: string) {
    const before = latest.current
    change()
    undo.current = { label: t('Undo'), run: () => keep(before) }
    announce(text, undo.current)
  }
  return { draft, latest, refused, setRefused, keep, edit, offerUndo }
}

/** The editing of a track's chapters. */
export function useChapters(track: Track, onChange: (track: Track) => void) {
  const client = useClient()
  const current = JSON.stringify(track.chapters)
  const ofFile = fileChapters(track)
  const chapters = track.chapters ?? ofFile
  // Rows that are shown again when the track has their chapters: they keep their keys, and so the focus.
  const reused = useRef<readonly ChapterRow[]>([])
  const saved = useMemo(
    () => (differs(reused.current, chapters) ? rowsFrom(chapters) : reused.current),
    [JSON.stringify(chapters)],
  )
  const { draft, latest, refused, setRefused, keep, edit, offerUndo } = useDraft(track, saved)
  const rows = draft?.rows ?? saved
  const isChanged = draft !== null && differs(rows, chapters)
  const isConflict = isChanged && draft.base !== current

  /** Sends chapters. Rows that were typed in the meantime stay, and are based on them. */
  async function write(from: Track, chapters: Chapter[] | null) {
    const answer = await send(client, from, chapters, onChange)
    if (!answer.ok) return answer
    onChange(answer.track)
    forgetViews()
    const base = JSON.stringify(answer.track.chapters)
    if (latest.current)
      keep(differs(latest.current.rows, chaptersFrom(reused.current)) ? { ...latest.current, base } : null)
    return answer
  }
  async function restore(from: Track) {
    const answer = await write(from, track.chapters)
    announce(answer.ok ? t('Previous chapters restored') : explain(answer))
  }
  const announceSaved = (saved: Track, text: string) => announce(text, { label: t('Undo'), run: () => restore(saved) })
  async function sendRows(base: string) {
    const sent = settled(rows)
    keep({ rows: sent, base })
    if (faultsOf(sent, track.duration).size > 0) return
    reused.current = sent
    const isNone = sent.length === 0 && ofFile.length === 0
    const answer = await write(track, isNone ? null : chaptersFrom(sent))
    if (answer.ok) announceSaved(answer.track, t('Chapters saved'))
    else if (answer.code !== 'version_mismatch') setRefused(refusalOf(answer, sent))
  }
  return {
    rows,
    refused,
    isChanged,
    /** Whether someone else has changed the chapters since the editing started. */
    isConflict,
    canRevert: !isChanged && track.chapters !== null && ofFile.length > 0,
    edit,
    /** Replaces all rows, and offers to undo it until the next change. */
    replace: (rows: readonly ChapterRow[], text: string) => offerUndo(() => edit(() => rows), text),
    /** Saves the rows unless one of them is wrong, or there is a conflict. */
    save: async () => isConflict || sendRows(draft?.base ?? current),
    /** Saves the rows after a conflict. */
    overwrite: () => sendRows(current),
    discard: () => offerUndo(() => keep(null), t('Changes discarded')),
    /** Returns to the chapters of the file. */
    revert: async () => {
      keep(null)
      reused.current = saved
      const answer = await write(track, null)
      if (answer.ok) announceSaved(answer.track, t('The chapters of the file are used again'))
      else announce(explain(answer))
    },
  }
}

export type ChapterEditing = ReturnType<typeof useChapters>
