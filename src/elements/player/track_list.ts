import type { SessionTrack } from '../../client/playback/state.ts'
import { clock } from '../shared/clock.ts'
import { button, element, setAttributes } from '../shared/dom.ts'

/** The session's tracks as a list of buttons; the arrow keys go up and down in it. */
export class TrackList {
  readonly root = element('ol', { class: 'list', part: 'playlist' })
  readonly #onSelect: (index: number) => void
  #tracks: readonly SessionTrack[] = []
  /** What the rows say, and the one that is marked. */
  #shown = ''
  #marked = -1
  #rows: HTMLButtonElement[] = []

  constructor(onSelect: (index: number) => void) {
    this.#onSelect = onSelect
    this.root.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      const at = this.#rows.indexOf(event.composedPath()[0] as HTMLButtonElement)
      if (step === undefined || at < 0) return
      event.preventDefault()
      this.#rows[at + step]?.focus()
    })
  }

  /** Shows which track plays; the rows are made anew only when there are other tracks. */
  update(tracks: readonly SessionTrack[], current: number, label: string): void {
    setAttributes(this.root, { 'aria-label': label })
    if (this.#tracks !== tracks) this.#show(tracks)
    if (this.#marked === current) return
    this.#marked = current
    for (const [i, row] of this.#rows.entries()) {
      const isCurrent = i === current
      if (isCurrent && !row.hasAttribute('aria-current')) this.#reveal(row)
      const part = isCurrent ? 'track current-track' : 'track'
      setAttributes(row, { 'aria-current': isCurrent ? 'true' : null, part })
    }
  }

  /** Another session may have the same tracks: the focus stays in rows that stay. */
  #show(tracks: readonly SessionTrack[]): void {
    this.#tracks = tracks
    this.root.hidden = tracks.length < 2
    const texts = tracks.map(({ id, player_title, duration }) => [id, player_title, duration].join(' ')).join('\n')
    if (texts === this.#shown) return
    this.#shown = texts
    this.#marked = -1
    this.#rows = tracks.map((track, index) => this.#row(track, index))
    this.root.replaceChildren(...this.#rows.map((row) => element('li', {}, row)))
  }

  #row(track: SessionTrack, index: number): HTMLButtonElement {
    const title = element('span', { class: 'name' }, element('bdi', {}, track.player_title ?? ''))
    const mark = element('span', { class: 'mark', 'aria-hidden': 'true' }, element('i'), element('i'), element('i'))
    const number = element('span', { class: 'number', 'aria-hidden': 'true' }, String(index + 1))
    const length = element('span', { class: 'length' }, track.duration > 0 ? clock(track.duration) : '')
    return button('track', () => this.#onSelect(index), number, mark, title, length)
  }

  /** Scrolls the list, and nothing but the list, until a row is seen. */
  #reveal(row: HTMLElement): void {
    const list = this.root
    const top = row.offsetTop - list.offsetTop
    if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2
  }
}
