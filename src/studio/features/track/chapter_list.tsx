import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { MAX_STRING } from '../../../contract/facts.ts'
import type { Track } from '../../base/api.ts'
import { timeText } from '../../base/clock.ts'
import { t } from '../../base/text.ts'
import { position } from '../../data/now_playing.ts'
import { Button } from '../../ui/controls/button.tsx'
import { useUniqueId } from '../../ui/controls/id.ts'
import { announce } from '../../ui/page/announce.ts'
import { type ChapterRow, faultsOf, settled, sorted } from './chapter_rows.ts'
import type { ChapterEditing } from './use_chapters.ts'

/** Returns the position of the player as a time, such as `1:05.2`. */
export const positionText = (track: Track) => timeText(Math.floor(position.get() * track.duration * 10) / 10)

/**
 * Returns a function that calls `work` with the focused element: at once, or, while a pointer is pressed, after its release. A row that moves under
 * the pointer would lose the click.
 */
function useAfterPress() {
  const isPressed = useRef(false)
  const waiting = useRef<(() => void) | null>(null)
  useEffect(() => {
    const ended = new AbortController()
    const options = { signal: ended.signal, capture: true }
    function release() {
      isPressed.current = false
      if (waiting.current) setTimeout(waiting.current)
      waiting.current = null
    }
    addEventListener('pointerdown', () => (isPressed.current = true), options)
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, release, options)
    return () => ended.abort()
  }, [])
  return (work: (focused: Element | null) => void, target: EventTarget | null) => {
    if (!isPressed.current) return work(target instanceof Element ? target : null)
    waiting.current = () => work(document.activeElement)
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
  const latestTyping = useRef(typing)
  latestTyping.current = typing
  const faults = editing.isChanged ? faultsOf(rows, track.duration) : null
  const faultOf = ({ key }: ChapterRow) => (typing === key ? undefined : (faults?.get(key) ?? refused.faults.get(key)))
  // A row that moves loses the focus.
  useLayoutEffect(() => {
    const { current } = next
    next.current = null
    if (current instanceof HTMLElement && current.isConnected && document.activeElement !== current) current.focus()
  })

  const change = ({ key }: ChapterRow, changes: Partial<ChapterRow>) =>
    edit((rows) => rows.map((row) => (row.key === key ? { ...row, ...changes } : row)))
  function settle(focused: Element | null) {
    setTyping(null)
    next.current = focused
    edit(settled)
  }
  /** Settles the rows unless they have been saved or discarded since the field was left. */
  function leave({ key }: ChapterRow, focused: Element | null) {
    if (latestTyping.current === key) settle(focused)
  }
  function remove(row: ChapterRow) {
    const at = rows.indexOf(row)
    const neighbor = rows[at + 1] ?? rows[at - 1]
    focusOn(neighbor ? `[data-chapter="${neighbor.key}"] .button:last-of-type` : '.actions .button')
    edit((rows) => rows.filter(({ key }) => key !== row.key))
    announce(t('Chapter removed'), { label: t('Undo'), run: () => edit((rows) => sorted([...rows, row])) })
  }
  if (rows.length === 0) return null
  return (
    <ol class="chapter-list">
      {rows.map((row, at) => (
        <Row
          key={row.key}
          row={row}
          n={at + 1}
          error={faultOf(row)}
          onTitle={(title) => change(row, { title })}
          onTime={(time) => {
            setTyping(row.key)
            change(row, { time })
          }}
          onLeave={(target) => typing === row.key && afterPress((focused) => leave(row, focused), target)}
          onHeard={
            isCurrent &&
            (() => {
              change(row, { time: positionText(track) })
              settle(document.activeElement)
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
