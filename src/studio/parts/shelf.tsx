import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { announce } from '../announce.ts'
import type { Failure } from '../api.ts'
import { plural } from '../format.ts'
import { go } from '../route.ts'
import type { All } from '../state/all.ts'
import { useTitle } from '../title.ts'
import { Button } from './button.tsx'
import { NewThing } from './new_thing.tsx'
import { Empty, Loading, Problem } from './states.tsx'

interface Properties<T> {
  kind: 'collection' | 'playlist'
  /** The page's. */
  title: string
  list: All<T>
  /** Makes one of a title, and answers its id. */
  create: (title: string) => Promise<{ ok: true; id: string } | Failure>
  card: (entry: T) => ComponentChildren
  empty: string
  /** What can be done as long as there is none, if not to make one. */
  action?: ComponentChildren
  /** What one is for: shown as long as there is none. */
  children: ComponentChildren
}

/** All collections or playlists as cards, and a button that makes another. */
export function Shelf<T>({ kind, title, list, create, card, empty, action, children }: Properties<T>) {
  const { entries, count, loading, problem, reload } = list
  const [making, setMaking] = useState(false)
  useTitle(title)

  async function make(name: string) {
    const made = await create(name)
    if (!made.ok) return made
    announce(`${name} created`)
    go(kind, made.id)
    return undefined
  }
  const isEmpty = !loading && !problem && entries.length === 0
  const button = (
    <Button kind={isEmpty && action ? '' : 'primary'} icon="plus" onClick={() => setMaking(true)}>
      New {kind}
    </Button>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{title}</h1>
          {entries.length > 0 && <p class="soft">{plural(count, kind)}</p>}
        </div>
        {button}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="cards" rows={6} />}
      {isEmpty && (
        <Empty title={empty} action={action ?? button}>
          {children}
        </Empty>
      )}
      <ul class="cards">{entries.map(card)}</ul>
      {making && <NewThing title={`New ${kind}`} make={make} onClose={() => setMaking(false)} />}
    </>
  )
}
