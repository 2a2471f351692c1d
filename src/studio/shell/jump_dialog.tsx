import { useEffect, useRef, useState } from 'preact/hooks'

import { MAX_STRING } from '../../contract/facts.ts'
import type { Client, CoverImage } from '../base/api.ts'
import { explain } from '../base/format.ts'
import { go, href } from '../base/route.ts'
import { t } from '../base/text.ts'
import { useClient } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { useSearch } from '../data/search.ts'
import { artistOf, nameOf } from '../data/track_text.ts'
import { Icon, type IconName } from '../ui/controls/icon.tsx'
import { useUniqueId } from '../ui/controls/id.ts'
import { Dialog } from '../ui/page/dialog.tsx'
import { type Command, findCommands, rankOf, startsName } from './commands.ts'

/** Results of each kind. */
const LIMIT = 5

interface Result {
  id: string
  label: string
  note?: string
  cover?: CoverImage | undefined
  icon?: IconName
  /** Whether the dialog stays open. */
  stays?: boolean
  run: () => unknown
}

interface Found {
  ok: true
  results: Result[]
  /** A corrected search, if nothing was found. */
  suggestion: string | undefined
}

/** Searches collections, tracks and playlists. A part that fails is left out, unless all fail. */
async function find(client: Client, q: string, signal: AbortSignal) {
  const query = { q, limit: LIMIT, include: ['artwork'] } as const
  const [collections, tracks, playlists] = await Promise.all([
    client.get('/v1/collection', { query, signal }),
    client.get('/v1/track', { query, signal }),
    client.get('/v1/playlist', { query, signal }),
  ])
  if (!collections.ok && !tracks.ok && !playlists.ok) return collections
  const found: Result[] = []
  const add = (page: string, id: string, result: Pick<Result, 'label' | 'note' | 'cover'>) =>
    found.push({ id, ...result, run: () => go(page, id) })
  for (const { id, title, player_subtitle, artwork } of collections.ok ? collections.collections : [])
    add('collection', id, { label: title, note: player_subtitle || t('Collection'), cover: artwork })
  for (const track of tracks.ok ? tracks.tracks : [])
    add('track', track.id, { label: nameOf(track), note: artistOf(track) || t('Track'), cover: track.artwork })
  for (const { id, title, artwork } of playlists.ok ? playlists.playlists : [])
    add('playlist', id, { label: title, note: t('Playlist'), cover: artwork })
  const suggestions = [collections, tracks, playlists].map((page) => (page.ok && page.suggestion) || undefined)
  return {
    ok: true,
    results: found.toSorted((a, b) => rankOf(a.label, q) - rankOf(b.label, q)),
    suggestion: found.length === 0 ? suggestions.find(Boolean) : undefined,
  } satisfies Found
}

/** The result that leads to the page with all results. */
const allResults = (q: string): Result => ({
  id: 'all',
  label: t('All results for “{words}”', { words: q }),
  icon: 'search',
  run: () => (location.hash = href('search', '', '', { q })),
})

/** The result that searches again for corrected words. */
const corrected = (suggestion: string, onWords: (words: string) => void): Result => ({
  id: 'suggestion',
  label: t('Did you mean “{suggestion}”?', { suggestion }),
  icon: 'search',
  stays: true,
  run: () => onWords(suggestion),
})

/** Returns the results for words, the best first. `q` is their last search. `isNamed` says whether the first is the command that is typed. */
function useResults(commands: readonly Command[], words: string, q: string, onWords: (words: string) => void) {
  const client = useClient()
  const { answer, problem, isPrevious } = useQuery<Found>(
    q === '' ? null : { key: ['jump', q], showsPrevious: true, load: ({ signal }) => find(client, q, signal) },
  )
  const { results: found = [], suggestion } = (q !== '' && answer) || {}
  const isSearching = words.trim() !== q || (q !== '' && (isPrevious || (!answer && !problem)))
  const wanted = findCommands(commands, words).map(({ label, icon, run }): Result => {
    return { id: `command ${label}`, label, icon, run }
  })
  const named = wanted.filter(({ label }) => startsName(label, words))
  const results: Result[] = [
    ...named,
    ...(suggestion && !isSearching ? [corrected(suggestion, onWords)] : []),
    ...found,
    ...wanted.filter((command) => !named.includes(command)),
    ...(words.trim() === '' ? [] : [allResults(words.trim())]),
  ]
  return { results, problem, isSearching, isNamed: named.length > 0 }
}

interface Properties {
  commands: readonly Command[]
  onClose: () => void
}

/** A field that searches the library and the commands. Enter opens the result that is marked, at first the best one. */
export function JumpDialog({ commands, onClose }: Properties) {
  const { words, onWords: search, q } = useSearch()
  const [marked, setMarked] = useState<number | null>(null)
  /** Whether Enter was pressed while the search ran. */
  const isEntered = useRef(false)
  // Not an effect, which could run after the next key.
  function onWords(text: string) {
    setMarked(null)
    isEntered.current = false
    search(text)
  }
  const list = useUniqueId()
  const element = useRef<HTMLUListElement>(null)
  const { results, problem, isSearching, isNamed } = useResults(commands, words, q, onWords)
  const at = Math.min(marked ?? 0, results.length - 1)

  useEffect(() => {
    if (!isSearching && isEntered.current) open(results[at])
  }, [isSearching])
  useEffect(() => element.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at])

  function open(result: Result | undefined) {
    if (!result) return
    if (!result.stays) onClose()
    void result.run()
  }
  function press(event: KeyboardEvent) {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined && results.length > 0) setMarked((at + step + results.length) % results.length)
    else if (event.key !== 'Enter' || event.isComposing) return
    // While the search runs, the results belong to other words. A command that is named does not depend on it.
    else if (isSearching && (marked !== null || !isNamed)) isEntered.current = true
    else open(results[at])
    event.preventDefault()
  }
  return (
    <Dialog title={t('Search or jump')} onClose={onClose}>
      <input
        role="combobox"
        aria-label={t('Search or jump')}
        aria-expanded={results.length > 0}
        aria-controls={list}
        aria-activedescendant={results[at] && `${list}-${at}`}
        placeholder={t('A title, an artist, a page, an action')}
        autocomplete="off"
        maxLength={MAX_STRING}
        value={words}
        onInput={(event) => onWords(event.currentTarget.value)}
        onKeyDown={press}
      />
      <ul ref={element} id={list} role="listbox" aria-label={t('Results')} class="jump-results" aria-busy={isSearching}>
        {results.map((result, index) => (
          <Option
            key={result.id}
            id={`${list}-${index}`}
            result={result}
            isMarked={index === at}
            onMark={() => setMarked(index)}
            onOpen={() => open(result)}
          />
        ))}
      </ul>
      <p role="status" class="soft">
        {problem && q !== '' ? explain(problem) : !isSearching && results.length === 0 ? t('Nothing found') : ''}
      </p>
    </Dialog>
  )
}

interface OptionProperties {
  id: string
  result: Result
  isMarked: boolean
  onMark: () => void
  onOpen: () => void
}

const Option = ({ id, result, isMarked, onMark, onOpen }: OptionProperties) => (
  <li
    id={id}
    role="option"
    aria-selected={isMarked}
    onPointerMove={onMark}
    // The focus stays in the field.
    onMouseDown={(event) => event.preventDefault()}
    onClick={onOpen}
  >
    {result.icon ? (
      <span class="jump-icon">
        <Icon name={result.icon} />
      </span>
    ) : (
      <img class="jump-icon" src={result.cover?.small.url} alt="" width="36" height="36" />
    )}
    <span class="jump-label" dir="auto">
      {result.label}
    </span>
    {result.note && (
      <span class="jump-note" dir="auto">
        {result.note}
      </span>
    )}
  </li>
)
