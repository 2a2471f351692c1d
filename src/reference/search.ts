import { make, openDialog } from './dom.ts'
import type { Finder, SearchEntry } from './find.ts'

/** The dialog of the search. The search itself is loaded when the dialog is opened first. */

let loading: Promise<Finder> | undefined

/** Loads the library and the entries, once. */
const load = () =>
  (loading ??= Promise.all([import('./find.ts'), loadEntries()]).then(([{ createFinder }, entries]) =>
    createFinder(entries),
  ))

async function loadEntries(): Promise<SearchEntry[]> {
  const response = await fetch('/docs/search.json')
  return (await response.json()) as SearchEntry[]
}

const LONGEST_EXCERPT = 140

/** Returns the part of a text around the first word of the query that it contains, or else its start. */
function excerpt({ text }: SearchEntry, query: string): string {
  const lower = text.toLowerCase()
  const places = query
    .toLowerCase()
    .split(/[^\p{L}\d_]+/u)
    .filter((word) => word.length > 3)
    .map((word) => lower.indexOf(word))
    .filter((at) => at >= 0)
  const near = Math.min(...places)
  const from = near < LONGEST_EXCERPT - 20 || near === Infinity ? 0 : text.lastIndexOf(' ', near - 40) + 1
  const end = text.length - from > LONGEST_EXCERPT ? text.lastIndexOf(' ', from + LONGEST_EXCERPT) : text.length
  return `${from > 0 ? '… ' : ''}${text.slice(from, end)}${end < text.length ? ' …' : ''}`
}

function openSearch(): void {
  if (document.querySelector('dialog[open]')) return
  const input = make('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    placeholder: 'Operations and guides',
  })
  const list = make('div', { id: 'results', role: 'listbox', ariaLabel: 'Results' })
  const status = make('p', { role: 'status', className: 'hint' })
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-controls': 'results',
    'aria-expanded': 'true',
    'aria-autocomplete': 'list',
    'aria-label': 'Search',
  }))
    input.setAttribute(name, value)
  const dialog = openDialog('Search', input, status, list)
  dialog.classList.add('wide', 'search')
  input.focus()
  let options: HTMLAnchorElement[] = []
  let active = 0
  function choose(next: number): void {
    active = Math.max(0, Math.min(next, options.length - 1))
    for (const [at, option] of options.entries()) option.ariaSelected = String(at === active)
    const chosen = options[active]
    chosen?.scrollIntoView({ block: 'nearest' })
    if (chosen) input.setAttribute('aria-activedescendant', chosen.id)
    else input.removeAttribute('aria-activedescendant')
  }
  function show(entries: SearchEntry[]): void {
    options = entries.map((entry, at) => {
      const { title, page, url } = entry
      const option = make(
        'a',
        { href: url, tabIndex: -1, id: `result-${at}`, role: 'option' },
        make('strong', {}, title),
        make('span', { className: 'soft' }, page === title ? '' : ` ${page}`),
        make('span', { className: 'hint' }, excerpt(entry, input.value)),
      )
      option.addEventListener('click', () => dialog.close())
      return option
    })
    list.replaceChildren(...options)
    status.textContent = input.value.trim() && entries.length === 0 ? 'Nothing found.' : ''
    choose(0)
  }
  async function search(): Promise<void> {
    try {
      const { find } = await load()
      show(find(input.value))
    } catch {
      loading = undefined
      status.textContent = 'The search could not be loaded.'
    }
  }
  input.addEventListener('input', () => void search())
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) choose(active + step)
    else if (event.key === 'Enter') options[active]?.click()
    // The browser would only empty the field.
    else if (event.key === 'Escape') dialog.close()
    else return
    event.preventDefault()
  })
  load().catch(() => (loading = undefined))
}

export function startSearch(): void {
  document.querySelector('#search-button')!.addEventListener('click', openSearch)
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof Element && event.target.closest('input, textarea, select')
    const isShortcut = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey
    const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
    if (!isShortcut && !isCommand) return
    event.preventDefault()
    openSearch()
  })
}
