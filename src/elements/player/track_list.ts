import { formatClock } from '../shared/clock.ts'
import { button, element, setAttributes } from '../shared/dom.ts'

/** The content of a row in a list. */
export interface ListEntry {
  title: string | null
  /** Time in seconds that is shown at the end of the row. */
  time: number | null
}

/** Returns the list entry of a track. */
export const rowOf = ({
  player_title: title,
  duration,
}: {
  player_title: string | null
  duration: number
}): ListEntry => ({
  title,
  time: duration > 0 ? duration : null,
})

interface Names {
  part: string
  row: string
}

/** Shows tracks or chapters as a list of buttons. The arrow keys move the focus. */
export class TrackList {
  readonly root: HTMLElement
  readonly #names: Names
  readonly #onSelect: (index: number) => void
  /** The rows that are rendered, as JSON. */
  #rendered = ''
  /** Index of the row that is marked as current. */
  #current = -1
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

  /** Renders the rows and marks the current one. If the rows have not changed, they are not rebuilt, so the focus is kept. */
  update(rows: readonly ListEntry[], current: number, label: string): void {
    setAttributes(this.root, { 'aria-label': label })
    const json = JSON.stringify(rows)
    if (json !== this.#rendered) this.#render(rows, json)
    if (this.#current === current) return
    this.#current = current
    const { row } = this.#names
    for (const [i, each] of this.#rows.entries()) {
      const isCurrent = i === current
      if (isCurrent && !each.hasAttribute('aria-current')) this.#reveal(each)
      const part = isCurrent ? `${row} current-${row}` : row
      setAttributes(each, { 'aria-current': isCurrent ? 'true' : null, part })
    }
  }

  #render(rows: readonly ListEntry[], json: string): void {
    this.#rendered = json
    this.#current = -1
    this.root.hidden = rows.length < 2
    this.#rows = rows.map((row, index) => this.#row(row, index))
    this.root.replaceChildren(...this.#rows.map((row) => element('li', {}, row)))
  }

  #row({ title, time }: ListEntry, index: number): HTMLButtonElement {
    const name = element('span', { class: 'name', dir: 'auto' }, title ?? String(index + 1))
    const mark = element('span', { class: 'mark', 'aria-hidden': 'true' }, element('i'), element('i'), element('i'))
    const number = element('span', { class: 'number', 'aria-hidden': 'true' }, title === null ? '' : String(index + 1))
    const length = element('span', { class: 'length' }, time === null ? '' : formatClock(time))
    return button('track', () => this.#onSelect(index), number, mark, name, length)
  }

  /** Scrolls a row into view. Unlike `scrollIntoView`, it scrolls only the list and not the page. */
  #reveal(row: HTMLElement): void {
    const list = this.root
    const top = row.offsetTop - list.offsetTop
    if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2
  }
}
