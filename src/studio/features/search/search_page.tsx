import type { ComponentChildren } from 'preact'

import type { Client } from '../../base/api.ts'
import { plural } from '../../base/format.ts'
import { href, type PageProperties, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { playList } from '../../data/play_list.ts'
import { useSearchField } from '../../data/search.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { FoundList, FoundTrack } from './found_item.tsx'
import { useFound } from './use_found.ts'

/** The results of each kind that are shown at first. */
const LISTS = 6
const TRACKS = 20

function useResults(client: Client, q: string) {
  const collections = useFound('collection', q, LISTS, async (range) => {
    const query = { q, include: ['artwork', 'counts'], limit: range.limit, offset: range.offset } as const
    const answer = await client.get('/v1/collection', { query, signal: range.signal })
    return answer.ok ? { ...answer, entries: answer.collections } : answer
  })
  const tracks = useFound('track', q, TRACKS, async (range) => {
    const query = { q, include: ['artwork', 'collection'], limit: range.limit, offset: range.offset } as const
    const answer = await client.get('/v1/track', { query, signal: range.signal })
    return answer.ok ? { ...answer, entries: answer.tracks } : answer
  })
  const playlists = useFound('playlist', q, LISTS, async (range) => {
    const query = { q, include: ['artwork', 'counts'], limit: range.limit, offset: range.offset } as const
    const answer = await client.get('/v1/playlist', { query, signal: range.signal })
    return answer.ok ? { ...answer, entries: answer.playlists } : answer
  })
  return { collections, tracks, playlists }
}

/** The page Search: collections, tracks and playlists. The address has the words. */
export function SearchPage({ query: { q = '' } }: PageProperties) {
  const client = useClient()
  const [words, onWords] = useSearchField(q, (q) => setQuery({ q }))
  const { collections, tracks, playlists } = useResults(client, q)
  const all = [collections, tracks, playlists]
  const isNothing = q !== '' && all.every(({ isDone, count }) => isDone && count === 0)
  const suggestion = isNothing ? all.find((found) => found.suggestion)?.suggestion : null
  useTitle(q ? t('Search: {words}', { words: q }) : t('Search'))
  return (
    <>
      <h1>{t('Search')}</h1>
      <SearchField
        class="search-field"
        label={t('Search everything')}
        placeholder={t('A title, an artist, a file name')}
        value={words}
        onInput={onWords}
      />
      {q === '' && <p class="soft">{t('Search all collections, tracks and playlists. Parts of words are enough.')}</p>}
      {q !== '' && (
        <>
          <Section found={collections} title={t('Collections')}>
            {collections.entries.map((collection) => (
              <FoundList
                key={collection.id}
                kind="collection"
                item={collection}
                onPlay={() => playList(client, 'collection', collection.id)}
              />
            ))}
          </Section>
          <Section found={tracks} title={t('Tracks')} all={href('library', 'tracks', '', { q })}>
            {tracks.entries.map((track) => (
              <FoundTrack key={track.id} track={track} />
            ))}
          </Section>
          <Section found={playlists} title={t('Playlists')}>
            {playlists.entries.map((playlist) => (
              <FoundList
                key={playlist.id}
                kind="playlist"
                item={playlist}
                onPlay={() => playList(client, 'playlist', playlist.id)}
              />
            ))}
          </Section>
          <div class={isNothing ? 'nothing' : ''} role="status">
            {isNothing && <p>{t('Nothing matches “{words}”.', { words: q })}</p>}
            {suggestion && (
              <Button onClick={() => setQuery({ q: suggestion })}>
                {t('Did you mean “{suggestion}”?', { suggestion })}
              </Button>
            )}
          </div>
        </>
      )}
    </>
  )
}

interface SectionProperties {
  found: Pick<
    ReturnType<typeof useFound>,
    'kind' | 'count' | 'isCapped' | 'isDone' | 'hasMore' | 'problem' | 'more' | 'reload'
  >
  title: string
  /** A page with all results. */
  all?: string
  children: ComponentChildren
}

/** The results of one kind. A kind without results is left out. */
function Section({ found, title, all, children }: SectionProperties) {
  const { kind, count, isCapped, isDone, hasMore, problem, more, reload } = found
  if (problem) return <Problem failure={problem} retry={reload} />
  if (!isDone && count === 0) return <Loading rows={2} />
  if (count === 0) return null
  return (
    <section class="part" aria-label={title} aria-busy={!isDone}>
      <div class="section-head">
        <h2>{title}</h2>
        <span class="soft">{plural(count, kind as 'track', isCapped)}</span>
      </div>
      <ul class="found">{children}</ul>
      {hasMore && (
        <div class="actions">
          <Button small onClick={more}>
            {t('Show more')}
          </Button>
          {all && <a href={all}>{t('Show all in a table')}</a>}
        </div>
      )}
    </section>
  )
}
