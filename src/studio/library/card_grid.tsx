import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { MAX_STRING } from '../../contract/facts.ts'
import type { Failure } from '../api.ts'
import type { List } from '../data/list.ts'
import { plural } from '../format.ts'
import { go } from '../route.ts'
import { t, text } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { CreateDialog } from '../ui/create_dialog.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'

const TEXTS = {
  collection: {
    create: text('New collection'),
    search: text('Search collections'),
    none: text('No collections found.'),
  },
  playlist: {
    create: text('New playlist'),
    search: text('Search playlists'),
    none: text('No playlists found.'),
  },
}

interface Properties<T> {
  kind: 'collection' | 'playlist'
  /** The title of the page. */
  title: string
  /** Links to other views, below the title. */
  tabs?: ComponentChildren
  list: List<T>
  /** The text of the search field, and the query of the list. */
  words: string
  q: string
  onWords: (words: string) => void
  /** Other results of the search. */
  found?: ComponentChildren
  /** Creates an entry with a title, and resolves to its id. */
  create: (title: string) => Promise<{ ok: true; id: string } | Failure>
  card: (entry: T) => ComponentChildren
  empty: string
  /** The action of the empty state; by default the button that creates an entry. */
  action?: ComponentChildren
  /** The text of the empty state. */
  children: ComponentChildren
}

/** A grid of collections or playlists with a search field, and a button that creates one. */
export function CardGrid<T>(properties: Properties<T>) {
  const { kind, title, tabs, list, words, q, onWords, found, create, card, empty, action, children } = properties
  const { entries, count, isCapped, loading, problem, reload } = list
  const [making, setMaking] = useState(false)
  const texts = TEXTS[kind]
  useTitle(title)

  async function make(name: string) {
    const made = await create(name)
    if (!made.ok) return made
    announce(t('{title} created', { title: name }))
    go(kind, made.id)
    return undefined
  }
  const nothing = !loading && !problem && entries.length === 0
  const isEmpty = nothing && !q && !words
  const button = (
    <Button kind={isEmpty && action ? '' : 'primary'} icon="plus" onClick={() => setMaking(true)}>
      {t(texts.create)}
    </Button>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{title}</h1>
          {entries.length > 0 && <p class="soft">{plural(count, kind, isCapped)}</p>}
        </div>
        {!isEmpty && (
          <input
            type="search"
            aria-label={t(texts.search)}
            placeholder={t('Search')}
            autocomplete="off"
            maxLength={MAX_STRING}
            value={words}
            onInput={(event) => onWords(event.currentTarget.value)}
          />
        )}
        {button}
      </div>
      {tabs}
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && entries.length === 0 && <Loading kind="cards" rows={6} />}
      {isEmpty && (
        <Empty title={empty} action={action ?? button}>
          {children}
        </Empty>
      )}
      {nothing && q && (
        <p class="soft" role="status">
          {t(texts.none)}
        </p>
      )}
      <ul class="cards">{entries.map(card)}</ul>
      {found}
      {making && <CreateDialog title={t(texts.create)} make={make} onClose={() => setMaking(false)} />}
    </>
  )
}
