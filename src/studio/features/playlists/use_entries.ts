import { useEffect, useRef, useState } from 'preact/hooks'

import { MAX_PLAYLIST_TRACKS } from '../../../contract/facts.ts'
import { explain, number } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { announce } from '../../ui/page/announce.ts'
import { entriesOf, type Entry, type FoundTrack, merged } from './entries.ts'
import { PATH, readEntries, type Saved, Saving } from './saving.ts'

/** Milliseconds after which changes that could not be sent are sent again. */
const AGAIN = 5000

/** The tracks of a playlist, and the functions that change them at once and save them in the background. */
export function useEntries(playlist_id: string) {
  const client = useClient()
  const { answer, problem, reload } = useQuery<Saved>({
    key: [PATH, playlist_id],
    load: ({ signal }) => readEntries(client, playlist_id, signal),
  })
  const [, redraw] = useState({})
  const saving = useRef<Saving>(undefined)
  const read = useRef<Saved>(undefined)
  if (answer && answer !== read.current) {
    read.current = answer
    if (saving.current?.isSaved ?? true) saving.current = new Saving(client, playlist_id, answer)
  }
  const current = saving.current
  useEffect(() => {
    if (!current) return undefined
    current.onChange = () => redraw({})
    const warn = (event: Event) => current.isSaved || event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => {
      removeEventListener('beforeunload', warn)
      current.onChange = () =>
        current.problem && announce(t('The playlist was not saved: {problem}', { problem: explain(current.problem) }))
    }
  }, [current])
  useEffect(() => {
    if (!current?.problem) return undefined
    const send = () => void current.save()
    const timer = setTimeout(send, AGAIN)
    addEventListener('online', send)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', send)
    }
  }, [current?.problem])

  /** Shows and saves other entries. The message offers to undo the change. */
  function change(after: readonly Entry[], message: string): void {
    if (!current) return
    const before = current.wanted
    current.want(after)
    announce(message, {
      label: t('Undo'),
      run: () => current.want(merged(after, before, current.wanted)),
    })
  }
  /** Adds tracks before a place; by default at the end. Returns whether they fit. */
  function add(tracks: readonly FoundTrack[], message: string, place?: number): boolean {
    const entries = current?.wanted ?? []
    if (entries.length + tracks.length > MAX_PLAYLIST_TRACKS) {
      announce(t('A playlist has at most {n} tracks.', { n: number(MAX_PLAYLIST_TRACKS) }))
      return false
    }
    change(entries.toSpliced(place ?? entries.length, 0, ...entriesOf(tracks, entries)), message)
    return true
  }
  return {
    entries: current?.wanted ?? NONE,
    loading: !current && !problem,
    problem,
    reload: () => void reload(),
    /** Why the last change is not saved yet. */
    unsaved: current?.problem,
    isSaving: Boolean(current && !current.isSaved),
    save: () => current?.save(),
    change,
    add,
  }
}
export type PlaylistEntries = ReturnType<typeof useEntries>
const NONE: readonly Entry[] = []
