import { clock } from '../shared/clock.ts'
import { button, element, setAttributes } from '../shared/dom.ts'
import type { SessionTrack } from './service.ts'
import type { Strings } from './strings.ts'

/** The session's tracks as a list of buttons; the arrow keys go up and down in it. */
export function createTrackList(onSelect: (place: number) => void) {
  const root = element('ol', { class: 'list', part: 'playlist' })
  let shown: readonly SessionTrack[] = []
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

  return {
    root,
    /** Shows which track plays; the rows are made anew only when there are other tracks. */
    update(tracks: readonly SessionTrack[], place: number, strings: Strings) {
      if (tracks !== shown) {
        shown = tracks
        rows = tracks.map(row)
        root.replaceChildren(...rows.map((each) => element('li', {}, each)))
      }
      root.hidden = tracks.length < 2
      root.setAttribute('aria-label', strings.tracks)
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
