import type { ComponentChildren } from 'preact'

import { type Route, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useSearchField } from '../../data/search.ts'
import { Chips } from '../../ui/controls/chips.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { OrderMenu } from '../../ui/controls/order_menu.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { COLUMNS, FILTERS, nextSort, SORTS } from './table_view.ts'

interface Properties {
  query: Route['query']
  /** The label of the search field. */
  label: string
  hidden: ReadonlySet<string>
  onToggle: (column: string) => void
  columns: readonly string[]
  sorts: readonly string[]
  /** The number of tracks. */
  children: ComponentChildren
}

/** The tools above a table of tracks: search, filters, order and columns. They change the address. */
export function TableTools({ query, label, hidden, onToggle, columns, sorts, children }: Properties) {
  const [words, onWords] = useSearchField(query.q ?? '', (q) => setQuery({ q }))
  const { status = '', sort = '' } = query
  const filters = [
    ['', t('All')] as const,
    ...Object.entries(FILTERS).map(([name, { label }]) => [name, t(label)] as const),
  ]
  return (
    <div class="table-tools">
      <SearchField label={label} value={words} onInput={onWords} />
      <Chips
        label={t('Filter')}
        options={filters}
        value={Object.hasOwn(FILTERS, status) ? status : ''}
        onChange={(value) => setQuery({ status: value })}
      />
      <span class="soft count" role="status">
        {children}
      </span>
      <OrderMenu
        value={sort.replace('-', '') || sorts[0]!}
        options={sorts.map((name) => [name, t(SORTS[name]!)] as const)}
        onChange={(name) => setQuery({ sort: nextSort(sort, name) })}
      />
      <Menu
        label={t('Columns')}
        icon="columns"
        items={columns.map((name) => ({
          label: t(COLUMNS[name]!),
          isChecked: !hidden.has(name),
          onSelect: () => onToggle(name),
        }))}
      />
    </div>
  )
}
