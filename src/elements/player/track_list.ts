import { clock } from '../shared/clock.ts'
import { button, element, setAttributes } from '../shared/dom.ts'

/** A row of a list. */
export interface Row {
  title: string | null
  /** Seconds, shown at its end. */
  time: number | null
}

/** The row of a track. */
export const rowOf = ({ player_title: title, duration }: { player_title: string | null; duration: number }): Row => ({
  title,
  time: duration > 0 ? duration : null,
})

interface Names {
  part: string
  row: string
}

/** Tracks or chapters as a list of buttons; the arrow keys go up and down in it. */
export class TrackList {
  readonly root: HTMLElement
  readonly #names: Names
  readonly #onSelect: (index: number) => void
  /** What the rows say, and the one that is marked. */
  #shown = ''
  #marked = -1
  #rows: HTMLButtonElement[] = []

  constructor(names: Names, onSelect: (index: number) => void) {
    this.#names = names
    this.#onSelect = onSelect
    this.root = element('ol', { class: 'list', part: names.part })
    this.root.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      const at = this.#rows.indexOf(event.composedPath()[0] as HTMLButtonElement)
      if (step === undefined || at < 0) return
      event.preventDefault()
      this.#rows[at + step]?.focus()
    })
  }

  /** Shows which row plays; the rows are made anew only when there are others, so that the focus stays in rows that stay. */
  update(rows: readonly Row[], current: number, label: string): void {
    setAttributes(this.root, { 'aria-label': label })
    const texts = JSON.stringify(rows)
    if (texts !== this.#shown) this.#show(rows, texts)
    if (this.#marked === current) return
    this.#marked = current
    const { row } = this.#names
    for (const [i, each] of this.#rows.entries()) {
      const isCurrent = i === current
      if (isCurrent && !each.hasAttribute('aria-current')) this.#reveal(each)
      const part = isCurrent ? `${row} current-${row}` : row
      setAttributes(each, { 'aria-current': isCurrent ? 'true' : null, part })
    }
  }

  #show(rows: readonly Row[], texts: string): void {
    this.#shown = texts
    this.#marked = -1
    this.root.hidden = rows.length < 2
    this.#rows = rows.map((row, index) => this.#row(row, index))
    this.root.replaceChildren(...this.#rows.map((row) => element('li', {}, row)))
  }

  #row({ title, time }: Row, index: number): HTMLButtonElement {
    const name = element('span', { class: 'name', dir: 'auto' }, title ?? String(index + 1))
    const mark = element('span', { class: 'mark', 'aria-hidden': 'true' }, element('i'), element('i'), element('i'))
    const number = element('span', { class: 'number', 'aria-hidden': 'true' }, title === null ? '' : String(index + 1))
    const length = element('span', { class: 'length' }, time === null ? '' : clock(time))
    return button('track', () => this.#onSelect(index), number, mark, name, length)
  }

  /** Scrolls the list, and nothing but the list, until a row is seen. */
  #reveal(row: HTMLElement): void {
    const list = this.root
    const top = row.offsetTop - list.offsetTop
    if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2
  }
}
