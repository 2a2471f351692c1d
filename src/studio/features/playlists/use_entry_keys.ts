import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'

import { go } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { nameOf } from '../../data/track_text.ts'
import { type MenuItem, openMenu } from '../../ui/controls/menu.tsx'
import { useRowFocus } from '../track_table/table_focus.ts'
import type { Entry, FoundTrack } from './entries.ts'
import type { Edits } from './use_edits.ts'

interface Properties {
  entries: readonly Entry[]
  edits: Edits
  body: RefObject<HTMLElement | null>
  height: number
  onPlay: (track: FoundTrack) => void
}

/** The focus of the rows of a playlist, their keys, their menu, and how they are selected. */
export function useEntryKeys({ entries, edits, body, height, onPlay }: Properties) {
  const { picked, setPicked, keysAt, move, remove } = edits
  const count = entries.length
  const anchor = useRef(0)
  function pick(at: number) {
    const next = new Set(picked)
    const { key } = entries[at]!
    if (!next.delete(key)) next.add(key)
    anchor.current = at
    setPicked(next)
  }
  function extend(at: number, start = anchor.current) {
    const range = entries.slice(Math.min(at, start), Math.max(at, start) + 1)
    setPicked(new Set([...picked, ...range.map(({ key }) => key)]))
  }
  function step(at: number, by: number) {
    const keys = keysAt(at)
    const places = entries.flatMap(({ key }, place) => (keys.has(key) ? place : []))
    const target = by < 0 ? places[0]! - 1 : places.at(-1)! + 2
    if (target < 0 || target > count) return
    move(keys, target)
    focus.focusRow(at + by)
  }
  const menuOf = (at: number): MenuItem[] => [
    { label: t('Details'), onSelect: () => go('track', entries[at]!.track.id) },
    { label: t('Go to its collection'), onSelect: () => go('collection', entries[at]!.track.collection_id) },
    ...(at > 0
      ? [
          { label: t('Move up'), onSelect: () => step(at, -1) },
          { label: t('Move to the top'), onSelect: () => move(keysAt(at), 0) },
        ]
      : []),
    ...(at < count - 1
      ? [
          { label: t('Move down'), onSelect: () => step(at, 1) },
          { label: t('Move to the end'), onSelect: () => move(keysAt(at), count) },
        ]
      : []),
    { label: t('Remove from the playlist'), danger: true, onSelect: () => remove(keysAt(at)) },
  ]
  function onKey(key: string, at: number, event: KeyboardEvent): boolean {
    const entry = entries[at]
    if (!entry) return false
    if ((event.ctrlKey || event.metaKey) && key === 'a') setPicked(new Set(entries.map((one) => one.key)))
    else if (event.ctrlKey || event.metaKey) return false
    else if (key === 'Escape' && picked.size > 0) setPicked(new Set())
    else if (event.altKey && key === 'ArrowUp') step(at, -1)
    else if (event.altKey && key === 'ArrowDown') step(at, 1)
    else if (event.altKey) return false
    else if (key === 'x') pick(at)
    else if (!(event.target as Element).closest('[data-at]')) return false
    else if (key === 'Delete' || key === 'Backspace') {
      const keys = keysAt(at)
      remove(keys)
      focus.focusRow(Math.max(0, Math.min(at, count - keys.size - 1)))
    } else if (key === 'Enter') go('track', entry.track.id)
    else if (key === ' ') onPlay(entry.track)
    else if (key === 'm' || key === 'ContextMenu' || (key === 'F10' && event.shiftKey))
      openMenu(event.target as HTMLElement, t('More for {name}', { name: nameOf(entry.track) }), menuOf(at))
    else return false
    return true
  }
  const focus = useRowFocus({ body, count, height, onKey, onExtend: (start, at) => extend(at, start) })
  return { focus, pick, extend, menuOf }
}
