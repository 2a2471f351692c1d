import { make, openDialog } from './dom.ts'

/** The search over operations and guides. Its index is loaded when it is opened first. */

interface Entry {
  title: string
  page: string
  url: string
  text: string
}

const MOST = 12
/** How much a word counts, by where it is found: at the start of the title, in the title, in the name of the page, in the text. */
const WEIGHTS = { start: 12, title: 8, page: 4, text: 1 }

let index: Promise<Entry[]> | undefined
const load = () => (index ??= fetch('/docs/search.json').then((response) => response.json() as Promise<Entry[]>))

function weigh({ title, page, text }: Entry, word: string): number {
  const name = title.toLowerCase()
  if (name.startsWith(word)) return WEIGHTS.start
  if (name.includes(word)) return WEIGHTS.title
  if (page.toLowerCase().includes(word)) return WEIGHTS.page
  return text.toLowerCase().includes(word) ? WEIGHTS.text : 0
}

/** Returns the entries that contain all words, best first. */
export function find(entries: Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const found = entries.map((entry) => {
    const weights = words.map((word) => weigh(entry, word))
    return { entry, weight: weights.includes(0) ? 0 : weights.reduce((sum, weight) => sum + weight) }
  })
  return found
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MOST)
    .map(({ entry }) => entry)
}

/** Returns the start of a text, or the part around the first word if only the text has it. */
function excerpt({ title, text }: Entry, query: string): string {
  const [word = ''] = query.trim().toLowerCase().split(/\s+/)
  const at = title.toLowerCase().includes(word) ? 0 : text.toLowerCase().indexOf(word)
  const from = Math.max(0, at - 40)
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 120)}`
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
  function show(entries: Entry[]): void {
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
      show(find(await load(), input.value))
    } catch {
      index = undefined
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
  load().catch(() => (index = undefined))
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
