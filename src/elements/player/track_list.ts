import { formatClock } from '../shared/clock.ts'
import { button, element, setAttributes, setText } from '../shared/dom.ts'

/** The content of a row in a list. */
export interface ListEntry {
  title: string | null
  /** Time in seconds that is shown at the end of the row. */
  time: number | null
}

interface Names {
  part: string
  row: string
}

interface ListTexts {
  /** Accessible name of the list. */
  label: string
  /** The line above the list. */
  head: string
  /** Label of the field that finds a row by its title. Lists without it have no field. */
  find?: string
  nothingFound?: string
}

/** Minimum number of rows of a list with a field that finds rows. */
const MANY = 20
const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: -Infinity,
  End: Infinity,
}

/** Returns a text for comparisons that ignore case and accents. */
const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/**
 * Shows tracks or chapters as a list of buttons, which is one Tab stop: arrow keys, Home and End move the focus, and a
 * letter moves it to the next title with that initial.
 */
export class TrackList {
  readonly root: HTMLElement
  readonly #names: Names
  readonly #onSelect: (index: number) => void
  readonly #list: HTMLOListElement
  readonly #head = element('span', { class: 'count' })
  readonly #find = element('input', { type: 'search', part: 'find', class: 'find' })
  readonly #nothing = element('p', { class: 'nothing', role: 'status' })
  readonly #mark = element('span', { class: 'mark', 'aria-hidden': 'true' }, ...['i', 'i', 'i'].map(() => element('i')))
  /** Watches the last row. While it is not visible, the end of the list fades out. */
  readonly #last: IntersectionObserver
  #items: readonly unknown[] | undefined
  /** The rows that are rendered, as JSON. */
  #rendered = ''
  /** Index of the row that is marked as current. */
  #current = -1
  #rows: HTMLButtonElement[] = []
  /** The titles of the rows, folded. */
  readonly #titles = new Map<HTMLButtonElement, string>()
  #nothingFound = ''
  /** The rows that the field has not hidden. */
  #shown: HTMLButtonElement[] = []
  /** The row that Tab reaches. */
  #stop: HTMLButtonElement | undefined

  constructor(names: Names, onSelect: (index: number) => void) {
    this.#names = names
    this.#onSelect = onSelect
    this.#list = element('ol', { class: 'list', part: names.part })
    this.root = element(
      'div',
      { class: 'listing', hidden: true },
      element('div', { class: 'head', part: 'list-head' }, this.#head, this.#find),
      this.#nothing,
      this.#list,
    )
    this.#last = new IntersectionObserver(
      (seen) => setAttributes(this.#list, { 'data-more': seen.at(-1)!.intersectionRatio < 0.9 }),
      { root: this.#list, threshold: 0.9 },
    )
    this.#list.addEventListener('focusin', (event) => this.#setStop(event.composedPath()[0] as HTMLButtonElement))
    this.#list.addEventListener('keydown', (event) => this.#onKey(event))
    // After a click on a row, the keys of the player work as elsewhere in it: a letter does not move the focus to a title.
    this.#list.addEventListener('mousedown', (event) => {
      if (event.target === this.#list) return
      event.preventDefault()
      this.root.closest<HTMLElement>('.base')?.focus({ preventScroll: true })
    })
    this.#find.addEventListener('input', () => this.#filter())
    this.#find.addEventListener('keydown', ({ key }) => {
      if (key === 'ArrowDown') this.#shown[0]?.focus()
      if (key === 'Enter') this.#shown[0]?.click()
    })
  }

  /** Renders a row for each item. Rows that have not changed are not rebuilt, so they keep the focus. */
  render<T>(items: readonly T[], rowOf: (item: T) => ListEntry, texts: ListTexts): void {
    const { label, head, find, nothingFound = '' } = texts
    setAttributes(this.#list, { 'aria-label': label })
    setText(this.#head, head)
    setAttributes(this.#find, { 'aria-label': find, placeholder: find, hidden: !find || items.length < MANY })
    this.#nothingFound = nothingFound
    if (items === this.#items) return
    this.#items = items
    const entries = items.map(rowOf)
    const json = JSON.stringify(entries)
    if (json === this.#rendered) return
    this.#rendered = json
    this.#current = -1
    this.root.hidden = entries.length < 2
    this.#titles.clear()
    this.#rows = entries.map((entry, index) => this.#row(entry, index))
    this.#list.replaceChildren(...this.#rows.map((row) => element('li', {}, row)))
    this.#find.value = ''
    this.#filter()
  }

  /** Marks a row as the current one and makes it visible. */
  mark(current: number): void {
    if (this.#current === current) return
    const { row: part } = this.#names
    const [before, now] = [this.#rows[this.#current], this.#rows[current]]
    this.#current = current
    this.#mark.remove()
    if (before) setAttributes(before, { 'aria-current': null, part })
    if (!now) return
    setAttributes(now, { 'aria-current': 'true', part: `${part} current-${part}` })
    now.prepend(this.#mark)
    if (!this.#shown.includes(now)) return
    this.#reveal(now)
    if (!this.#list.querySelector(':focus')) this.#setStop(now)
  }

  #row({ title, time }: ListEntry, index: number): HTMLButtonElement {
    const name = element('span', { class: 'name', dir: 'auto' }, title ?? String(index + 1))
    const number = element('span', { class: 'number', 'aria-hidden': 'true' }, title === null ? '' : String(index + 1))
    const length = element('span', { class: 'length' }, time === null ? '' : formatClock(time))
    const row = button('track', () => this.#onSelect(index), number, name, length)
    this.#titles.set(row, folded(title ?? ''))
    setAttributes(row, { tabindex: -1, part: this.#names.row })
    return row
  }

  #setStop(row: HTMLButtonElement | undefined): void {
    if (this.#stop) this.#stop.tabIndex = -1
    this.#stop = row
    if (row) row.tabIndex = 0
  }

  /** Shows the rows whose titles contain the text in the field. */
  #filter(): void {
    const wanted = folded(this.#find.value.trim())
    this.#shown = this.#rows.filter((row) => {
      const isShown = this.#titles.get(row)!.includes(wanted)
      row.parentElement!.hidden = !isShown
      return isShown
    })
    setText(this.#nothing, this.#shown.length === 0 ? this.#nothingFound : '')
    // The style sheet shows either all rows or ends in the middle of a row.
    this.#list.style.setProperty('--_rows', String(this.#shown.length))
    this.#last.disconnect()
    const last = this.#shown.at(-1)
    if (last) this.#last.observe(last.parentElement!)
    if (!this.#shown.includes(this.#stop!)) this.#setStop(this.#shown[0])
  }

  #onKey(event: KeyboardEvent): void {
    const { key } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const rows = this.#shown
    const at = rows.indexOf(this.#stop!)
    const step = STEPS[key]
    if (step === undefined && !/^[\p{L}\p{N}]$/u.test(key)) return
    event.preventDefault()
    const initial = folded(key)
    const target =
      step === undefined
        ? [...rows.slice(at + 1), ...rows.slice(0, at)].find((row) => this.#titles.get(row)!.startsWith(initial))
        : rows[Math.min(rows.length - 1, Math.max(0, at + step))]
    target?.focus()
  }

  /** Scrolls a row into view. Unlike `scrollIntoView`, it scrolls only the list and not the page. */
  #reveal(row: HTMLElement): void {
    const list = this.#list
    const [{ top, bottom, height }, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()]
    if (top < outer.top || bottom > outer.bottom) list.scrollTop += top - outer.top - (outer.height - height) / 2
  }
}
