import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { date, hours, joined, plural } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import type { ShelfItem, ShelfRows } from '../../data/shelf_rows.ts'
import { useWindow } from '../../ui/lists/window.ts'
import { cardSize } from './card_size.ts'
import { CoverCard } from './cover_card.tsx'

interface Properties {
  kind: 'collection' | 'playlist'
  list: ShelfRows
  isList: boolean
}

/** Covers in a grid, or in lines with more facts. Only those in view are in the page, whatever the length of the list. */
export function CoverGrid({ kind, list: { rows, show }, isList }: Properties) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const { columns, height } = cardSize(width, isList)
  const lines = Math.ceil(rows.length / columns)
  const [first, last] = useWindow(box, lines, height, isList ? undefined : 1)
  const [from, to] = [first * columns, Math.min(last * columns, rows.length)]
  useEffect(() => void (width > 0 && show(from, to)), [from, to, rows, width])
  const Item = isList ? Line : Card
  return (
    <div ref={box} class="windowed" style={{ height: `${lines * height}px` }}>
      {width > 0 && (
        <ul
          class={isList ? 'cover-lines' : 'cards'}
          style={{ transform: `translateY(${first * height}px)`, '--columns': columns, '--line-height': `${height}px` }}
        >
          {rows.slice(from, to).map((item, index) => {
            const place = { at: from + index, count: rows.length }
            return item ? (
              <Item key={item.id} kind={kind} item={item} place={place} />
            ) : (
              <li key={`hole-${place.at}`} class="shape" aria-busy="true" />
            )
          })}
        </ul>
      )}
    </div>
  )
}

/** Returns the width of an element in pixels; 0 before it is known. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const box = element.current
    if (!box) return undefined
    setWidth(box.clientWidth)
    const resized = new ResizeObserver(() => setWidth(box.clientWidth))
    resized.observe(box)
    return () => resized.disconnect()
  }, [])
  return width
}

interface ItemProperties {
  kind: 'collection' | 'playlist'
  item: ShelfItem
  place: { at: number; count: number }
}

const Card = ({ kind, item: { id, title, player_subtitle, artwork, counts }, place }: ItemProperties) => (
  <CoverCard
    href={href(kind, id)}
    title={title}
    cover={artwork}
    note={joined([player_subtitle, counts && plural(counts.tracks, 'track')])}
    place={place}
  />
)

const Line = ({ kind, item, place }: ItemProperties) => {
  const { id, title, player_subtitle, artwork, counts, updated_at } = item
  return (
    <li data-row aria-posinset={place.at + 1} aria-setsize={place.count}>
      {artwork && <img src={artwork.icon.url} alt="" width="40" height="40" decoding="async" />}
      <span class="line-text">
        <a class="name" href={href(kind, id)} dir="auto">
          {title}
        </a>
        <span class="soft" dir="auto">
          {player_subtitle}
        </span>
      </span>
      <span class="soft">{counts && plural(counts.tracks, 'track')}</span>
      <span class="soft length">{counts?.duration ? hours(counts.duration) : ''}</span>
      <span class="soft changed">{t('Changed {date}', { date: date(updated_at) })}</span>
    </li>
  )
}
