import { clock } from '../shared/clock.ts'
import { button, element, setAttributes } from '../shared/dom.ts'
import type { SessionTrack } from './service.ts'
import type { Strings } from './strings.ts'

/** The session's tracks as a list of buttons; the arrow keys go up and down in it. */
export function createTrackList(onSelect: (place: number) => void) {
  const root = element('ol', { class: 'list', part: 'playlist' })
  let tracks: readonly SessionTrack[] = []
  /** What the rows show, and the place of the one that plays. */
  let shown = ''
  let marked = -1
  let rows: HTMLButtonElement[] = []

  root.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const at = rows.indexOf(event.composedPath()[0] as HTMLButtonElement)
    if (step === undefined || at < 0) return
    event.preventDefault()
    rows[at + step]?.focus()
  })

  function row(track: SessionTrack, place: number): HTMLButtonElement {
    const title = element('span', { class: 'name' }, element('bdi', {}, track.player_title ?? ''))
    const mark = element('span', { class: 'mark', 'aria-hidden': 'true' }, element('i'), element('i'), element('i'))
    const number = element('span', { class: 'number', 'aria-hidden': 'true' }, String(place + 1))
    const length = element('span', { class: 'length' }, track.duration > 0 ? clock(track.duration) : '')
    return button('track', () => onSelect(place), number, mark, title, length)
  }

  /** Another session may have the same tracks: the focus stays in rows that stay. */
  function show(now: readonly SessionTrack[]): void {
    tracks = now
    root.hidden = tracks.length < 2
    const texts = tracks.map(({ id, player_title, duration }) => [id, player_title, duration].join(' ')).join('\n')
    if (texts === shown) return
    shown = texts
    marked = -1
    rows = tracks.map(row)
    root.replaceChildren(...rows.map((each) => element('li', {}, each)))
  }

  return {
    root,
    /** Shows which track plays; the rows are made anew only when there are other tracks. */
    update(now: readonly SessionTrack[], place: number, strings: Strings) {
      root.setAttribute('aria-label', strings.tracks)
      if (tracks !== now) show(now)
      if (marked === place) return
      marked = place
      for (const [i, each] of rows.entries()) {
        const current = i === place
        if (current && !each.hasAttribute('aria-current')) showRow(root, each)
        const part = current ? 'track current-track' : 'track'
        setAttributes(each, { 'aria-current': current ? 'true' : null, part })
      }
    },
  }
}

/** Scrolls the list, and nothing but the list, until a row is seen. */
function showRow(list: HTMLElement, row: HTMLElement): void {
  const top = row.offsetTop - list.offsetTop
  if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = top - list.clientHeight / 2
}
