import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import type { Failure } from '../../base/api.ts'
import { plural } from '../../base/format.ts'
import { go, href, type Route, setQuery } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import { preferences, prefer } from '../../data/preferences.ts'
import { useSearchField } from '../../data/search.ts'
import { useShelfRows } from '../../data/shelf_rows.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Choice } from '../../ui/controls/choice.tsx'
import { OrderMenu } from '../../ui/controls/order_menu.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { announce } from '../../ui/page/announce.ts'
import { CreateDialog } from '../../ui/page/create_dialog.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { CoverGrid } from './cover_grid.tsx'

/** The orders of collections and playlists. Without one, the newest are first. */
const SORTS: Record<string, string> = {
  '': text('Newest'),
  '-updated_at': text('Changed last'),
  title: text('Title'),
}

interface Properties {
  kind: 'collection' | 'playlist'
  query: Route['query']
  title: string
  /** Links to other views, below the title. */
  tabs?: ComponentChildren
  /** The label of the search field, and of the button that creates an entry. */
  search: string
  creation: string
  /** Creates an entry with a title, and resolves to its id. */
  create: (title: string) => Promise<{ ok: true; id: string } | Failure>
  /** The title, the text and the action of the page without entries; by default, the action is the button that creates one. */
  empty: { title: string; text: string; action?: ComponentChildren }
}

/** A page of collections or playlists, as covers or as a list. The address has the search, the order and the view. */
export function Shelf({ kind, query, title, tabs, search, creation, create, empty }: Properties) {
  const { q = '', sort: wanted = '' } = query
  const sort = Object.hasOwn(SORTS, wanted) ? wanted : ''
  const list = useShelfRows({ kind, q, sort })
  const { rows, isCapped, loading, problem, retry } = list
  const view = query.view ?? preferences.get().view
  const [making, setMaking] = useState(false)
  useTitle(title)

  async function make(name: string) {
    const made = await create(name)
    if (!made.ok) return made
    announce(t('{title} created', { title: name }))
    go(kind, made.id)
    return undefined
  }
  const isNothing = !loading && !problem && rows.length === 0
  const isEmpty = isNothing && !q
  const button = (
    <Button kind={isEmpty && empty.action ? '' : 'primary'} icon="plus" onClick={() => setMaking(true)}>
      {creation}
    </Button>
  )
  return (
    <>
      <Head title={title}>{button}</Head>
      {tabs}
      {!isEmpty && (
        <ShelfTools label={search} q={q} sort={sort} view={view}>
          {!loading && (rows.length > 0 || !problem) && plural(rows.length, kind, isCapped)}
        </ShelfTools>
      )}
      {problem && <Problem failure={problem} retry={retry} />}
      {loading && <Loading kind="cards" rows={6} />}
      {isEmpty && (
        <Empty title={empty.title} action={empty.action ?? button}>
          {empty.text}
        </Empty>
      )}
      {isNothing && q && (
        <div class="nothing">
          <p role="status">{kind === 'collection' ? t('No collections found.') : t('No playlists found.')}</p>
          <a href={href('search', '', '', { q })}>{t('Search everything')}</a>
        </div>
      )}
      {rows.length > 0 && <CoverGrid key={view} kind={kind} list={list} isList={view === 'list'} />}
      {making && <CreateDialog title={creation} make={make} onClose={() => setMaking(false)} />}
    </>
  )
}

interface ToolsProperties {
  label: string
  q: string
  sort: string
  view: string
  /** The number of entries. */
  children: ComponentChildren
}

function ShelfTools({ label, q, sort, view, children }: ToolsProperties) {
  const [words, onWords] = useSearchField(q, (q) => setQuery({ q }))
  function choose(view: string) {
    setQuery({ view })
    void prefer({ view })
  }
  return (
    <div class="table-tools">
      <SearchField label={label} value={words} onInput={onWords} />
      <Choice
        label={t('View')}
        hidesLabel
        options={[
          ['', text('Covers')],
          ['list', text('List')],
        ]}
        value={view === 'list' ? 'list' : ''}
        onChange={choose}
      />
      <span class="soft count" role="status">
        {children}
      </span>
      <OrderMenu
        value={sort}
        options={Object.entries(SORTS).map(([name, label]) => [name, t(label)] as const)}
        onChange={(name) => setQuery({ sort: name })}
      />
    </div>
  )
}
