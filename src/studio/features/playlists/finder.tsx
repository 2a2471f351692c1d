import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'

import type { Failure } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { type LoadContext, useQuery } from '../../data/query.ts'
import { useSearchField } from '../../data/search.ts'
import { isPlayable } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import type { FoundTrack } from './entries.ts'
import { type Found, FoundCollection, FoundRow } from './found_rows.tsx'
import { INCLUDE } from './saving.ts'

/** The number of tracks of a page of results, of collections among them, and of recent collections. */
const TRACKS = 30
const COLLECTIONS = 5
const RECENT = 20

interface Properties extends Found {
  pane: RefObject<HTMLElement | null>
}

/** The pane in which tracks are found: a search over everything, with recent collections below. */
export function Finder({ pane: place, ...found }: Properties) {
  const [q, setQ] = useState('')
  const [words, onWords] = useSearchField(q, setQ)
  /** The arrow keys move between the field and the buttons that add; Enter in the field adds the first track. */
  function move(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return
    const pane = event.currentTarget as HTMLElement
    const stops = [...pane.querySelectorAll<HTMLElement>('input[type=search], [data-add], [data-open]')]
    const at = stops.indexOf(event.target as HTMLElement)
    if (event.key === 'Enter' && at === 0) {
      if (q && words.trim() === q) pane.querySelector<HTMLElement>('[data-add]')?.click()
    } else if (at >= 0 && event.key === 'ArrowDown') stops[at + 1]?.focus()
    else if (at > 0 && event.key === 'ArrowUp') stops[at - 1]?.focus()
    else return
    event.preventDefault()
  }
  return (
    <section class="finder" ref={place} aria-label={t('Add tracks')} onKeyDown={move}>
      <SearchField label={t('Search all tracks and collections')} value={words} onInput={onWords} />
      {q ? <Results q={q} onSearch={onWords} {...found} /> : <Recent {...found} />}
    </section>
  )
}

interface TracksFound {
  ok: true
  tracks: FoundTrack[]
  hasMore: boolean
  /** A corrected query, if nothing was found. */
  suggestion: string | null
}

function Results({ q, onSearch, ...found }: Found & { q: string; onSearch: (q: string) => void }) {
  const client = useClient()
  const tracks = useQuery({
    key: ['playlist search', q],
    async load({ previous, isMore }: LoadContext<TracksFound>): Promise<TracksFound | Failure> {
      const before = isMore ? (previous?.tracks ?? []) : []
      const query = { q, offset: before.length, limit: TRACKS, include: INCLUDE }
      const answer = await client.get('/v1/track', { query })
      if (!answer.ok) return answer
      const { suggestion = null } = answer
      return { ok: true, tracks: [...before, ...answer.tracks], hasMore: answer.tracks.length === TRACKS, suggestion }
    },
  })
  const query = { q, limit: COLLECTIONS, include: ['artwork', 'counts'] } as const
  const collections = useQuery({
    key: ['playlist search', 'collections', q],
    load: () => client.get('/v1/collection', { query }),
  })
  const { answer, problem } = tracks
  const suggestion = answer?.suggestion ?? collections.answer?.suggestion
  const shown = (answer?.tracks ?? []).filter(isPlayable)
  const albums = collections.answer?.collections ?? []
  const isEmpty = answer !== undefined && shown.length === 0 && albums.length === 0
  return (
    <>
      {problem && <Problem failure={problem} retry={tracks.reload} />}
      {!answer && !problem && <Loading rows={5} />}
      <p class="soft" role="status">
        {isEmpty && !suggestion && t('Nothing was found.')}
        {isEmpty && suggestion && (
          <Button kind="quiet" onClick={() => onSearch(suggestion)}>
            {t('Did you mean “{suggestion}”?', { suggestion })}
          </Button>
        )}
      </p>
      <ul class="found-rows" aria-label={t('Tracks')}>
        {shown.map((track) => (
          <FoundRow key={track.id} track={track} {...found} />
        ))}
      </ul>
      {(shown.length > 1 || answer?.hasMore) && (
        <div class="actions">
          {shown.length > 1 && (
            <Button small onClick={() => found.onAdd(shown)}>
              {t('Add these {n}', { n: shown.length })}
            </Button>
          )}
          {answer?.hasMore && (
            <Button small kind="quiet" onClick={tracks.more}>
              {t('Show more')}
            </Button>
          )}
        </div>
      )}
      {albums.length > 0 && (
        <>
          <h2>{t('Collections')}</h2>
          <ul class="found-rows" aria-label={t('Collections')}>
            {albums.map((collection) => (
              <FoundCollection key={collection.id} collection={collection} {...found} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function Recent(found: Found) {
  const client = useClient()
  const query = { sort: '-updated_at', limit: RECENT, include: ['artwork', 'counts'] } as const
  const { answer, problem, reload } = useQuery({
    key: ['/v1/collection', query],
    load: () => client.get('/v1/collection', { query }),
  })
  if (problem) return <Problem failure={problem} retry={reload} />
  if (!answer) return <Loading rows={5} />
  if (answer.collections.length === 0)
    return <p class="soft">{t('Upload tracks first. They can then be found here.')}</p>
  return (
    <>
      <h2>{t('Recent collections')}</h2>
      <ul class="found-rows" aria-label={t('Recent collections')}>
        {answer.collections.map((collection) => (
          <FoundCollection key={collection.id} collection={collection} {...found} />
        ))}
      </ul>
    </>
  )
}
