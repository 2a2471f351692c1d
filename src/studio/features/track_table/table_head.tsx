import type { ComponentChildren } from 'preact'

import { type Route, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { nextSort } from './table_view.ts'
import type { TableSelection } from './use_selection.ts'

interface Properties {
  query: Route['query']
  isNumbered: boolean
  hasAlbum: boolean
  selecting: TableSelection
}

/** The headers of a table of tracks. Some sort the table. */
export function TableHead({ query, isNumbered, hasAlbum, selecting }: Properties) {
  const { size, selection, pickAll, clear } = selecting
  const column = (name: string, text: string, sort?: string) => (
    <Header name={name} sort={sort} current={query.sort ?? ''}>
      {text}
    </Header>
  )
  return (
    <div role="rowgroup" class="track-head">
      <div role="row" aria-rowindex={1}>
        <span role="columnheader" class="pick">
          <input
            type="checkbox"
            aria-label={t('Select all')}
            checked={size > 0 && selection.isAll}
            indeterminate={size > 0 && !selection.isAll}
            onClick={() => (size > 0 ? clear() : pickAll())}
          />
        </span>
        {isNumbered && column('number', '#', 'order')}
        <span role="columnheader" class="art">
          <span class="visually-hidden">{t('Cover')}</span>
        </span>
        {column('track-text', t('Title'), 'title')}
        {hasAlbum && column('album', t('Collection'))}
        {column('wave-cell', t('Waveform'))}
        {column('duration', t('Length'), 'duration')}
        {column('loudness', t('Loudness'))}
        {column('added', t('Added'), 'created_at')}
        <span role="columnheader" class="status">
          <span class="visually-hidden">{t('Status')}</span>
        </span>
        <span role="columnheader" class="more">
          <span class="visually-hidden">{t('More')}</span>
        </span>
      </div>
    </div>
  )
}

interface HeaderProperties {
  name: string
  sort: string | undefined
  current: string
  children: ComponentChildren
}

function Header({ name, sort, current, children }: HeaderProperties) {
  if (!sort) {
    return (
      <span role="columnheader" class={name}>
        {children}
      </span>
    )
  }
  const isCurrent = current.replace('-', '') === sort
  const direction = current.startsWith('-') ? 'descending' : 'ascending'
  return (
    <span role="columnheader" class={name} aria-sort={isCurrent ? direction : undefined}>
      <button type="button" onClick={() => setQuery({ sort: sort === 'order' ? '' : nextSort(current, sort) })}>
        {children}
        {isCurrent && <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : ' ↓'}</span>}
      </button>
    </span>
  )
}
