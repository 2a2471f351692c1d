import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { MAX_STRING } from '../../contract/facts.ts'
import type { Track } from '../api.ts'
import { position } from '../data/now_playing.ts'
import { t } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { useUniqueId } from '../ui/id.ts'
import { type ChapterRow, faultsOf, readTime, sorted, timeText } from './chapter_rows.ts'
import type { ChapterEditing } from './use_chapters.ts'

/** Returns the position of the player in tenths of a second. */
export const heard = (track: Track) => timeText(Math.floor(position.get() * track.duration * 10) / 10)

/**
 * Returns a function that calls `work` with the element that has the focus: at once, or when the pointer that is pressed was released, because
 * rows that move under the pointer would lose its click.
 */
function useAfterPress() {
  const isPressed = useRef(false)
  useEffect(() => {
    const ended = new AbortController()
    const options = { signal: ended.signal, capture: true }
    addEventListener('pointerdown', () => (isPressed.current = true), options)
    for (const name of ['pointerup', 'pointercancel'])
      addEventListener(name, () => (isPressed.current = false), options)
    return () => ended.abort()
  }, [])
  return (work: (focused: Element | null) => void, target: EventTarget | null) => {
    if (!isPressed.current) return work(target instanceof Element ? target : null)
    addEventListener('pointerup', () => setTimeout(() => work(document.activeElement)), { once: true })
  }
}

interface RowsProperties {
  track: Track
  editing: ChapterEditing
  isCurrent: boolean
  typing: number | null
  setTyping: (key: number | null) => void
  focusOn: (selector: string) => void
}

/** The rows of chapters, in the order of their times. */
export function ChapterList({ track, editing, isCurrent, typing, setTyping, focusOn }: RowsProperties) {
  const { rows, edit, refused } = editing
  const next = useRef<Element | null>(null)
  const afterPress = useAfterPress()
  const faults = editing.isChanged ? faultsOf(rows, track.duration) : refused.faults
  // A row that moves loses the focus.
  useLayoutEffect(() => {
    const { current } = next
    next.current = null
    if (current instanceof HTMLElement && current.isConnected && document.activeElement !== current) current.focus()
  })

  const change = ({ key }: ChapterRow, changes: Partial<ChapterRow>) =>
    edit((rows) => rows.map((row) => (row.key === key ? { ...row, ...changes } : row)))
  /** Shows the time of a row in the usual form, and the row in its place. */
  function settle({ key }: ChapterRow, focused: Element | null) {
    setTyping(null)
    next.current = focused
    edit((rows) =>
      sorted(
        rows.map((row) => {
          const seconds = row.key === key ? readTime(row.time) : null
          return seconds === null ? row : { ...row, time: timeText(seconds) }
        }),
      ),
    )
  }
  function remove(row: ChapterRow) {
    const at = rows.indexOf(row)
    const neighbor = rows[at + 1] ?? rows[at - 1]
    focusOn(neighbor ? `[data-chapter="${neighbor.key}"] .button:last-of-type` : '.actions .button')
    edit((rows) => rows.filter(({ key }) => key !== row.key))
    announce(t('Chapter removed'), { label: t('Undo'), run: () => edit(() => rows) })
  }
  if (rows.length === 0) return null
  return (
    <ol class="chapter-list">
      {rows.map((row, at) => (
        <Row
          key={row.key}
          row={row}
          n={at + 1}
          error={typing === row.key ? undefined : (faults.get(row.key) ?? refused.faults.get(row.key))}
          onTitle={(title) => change(row, { title })}
          onTime={(time) => {
            setTyping(row.key)
            change(row, { time })
          }}
          onLeave={(target) => typing === row.key && afterPress((focused) => settle(row, focused), target)}
          onHeard={
            isCurrent &&
            (() => {
              change(row, { time: heard(track) })
              settle(row, document.activeElement)
            })
          }
          onRemove={() => remove(row)}
        />
      ))}
    </ol>
  )
}

interface RowProperties {
  row: ChapterRow
  n: number
  error: string | undefined
  onTime: (time: string) => void
  onTitle: (title: string) => void
  /** Called when the field of the time is left, with the element that gets the focus. */
  onLeave: (target: EventTarget | null) => unknown
  /** Sets the time to the position of the player; false while it plays something else. */
  onHeard: false | (() => void)
  onRemove: () => void
}

function Row({ row, n, error, onTime, onTitle, onLeave, onHeard, onRemove }: RowProperties) {
  const id = useUniqueId()
  return (
    <li data-chapter={row.key}>
      <input
        class="chapter-time"
        dir="ltr"
        aria-label={t('Start of chapter {n}', { n })}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? id : undefined}
        placeholder="0:00"
        autocomplete="off"
        value={row.time}
        onInput={({ currentTarget }) => onTime(currentTarget.value)}
        onBlur={({ relatedTarget }) => onLeave(relatedTarget)}
      />
      <input
        class="chapter-title"
        dir="auto"
        aria-label={t('Title of chapter {n}', { n })}
        placeholder={t('Chapter {n}', { n })}
        autocomplete="off"
        maxLength={MAX_STRING}
        value={row.title}
        onInput={({ currentTarget }) => onTitle(currentTarget.value)}
      />
      {onHeard && (
        <Button
          kind="quiet"
          icon="activity"
          label={t('Start chapter {n} at the playing position', { n })}
          onClick={onHeard}
        />
      )}
      <Button kind="quiet" icon="close" label={t('Remove chapter {n}', { n })} onClick={onRemove} />
      {error && (
        <p class="error" role="alert" id={id}>
          {error}
        </p>
      )}
    </li>
  )
}
