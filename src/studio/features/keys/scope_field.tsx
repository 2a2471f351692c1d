import { useEffect, useRef, useState } from 'preact/hooks'

import { MAX_STRING } from '../../../contract/facts.ts'
import type { ApiKey, Client, CoverImage, Failure, KeyType } from '../../base/api.ts'
import { exactTime, explain, joined, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { useSearch } from '../../data/search.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Icon } from '../../ui/controls/icon.tsx'
import { useUniqueId } from '../../ui/controls/id.ts'

/** The collection or playlist that a new key opens. The fields of the request are empty for everything. */
export interface KeyScope {
  title: string
  fields: Partial<Pick<ApiKey, 'collection_id' | 'playlist_id'>>
}

/** The results of each kind. */
const LIMIT = 20

interface Option extends KeyScope {
  id: string
  note?: string | undefined
  cover?: CoverImage | undefined
}

interface Item {
  id: string
  title: string
  created_at: string
  artwork?: CoverImage | undefined
  counts?: { tracks: number } | undefined
}

/** Returns an option for each item. Those with the same title also have the time of their creation and the start of their id. */
function optionsOf(items: readonly Item[], kind: string, fieldsOf: (id: string) => KeyScope['fields']): Option[] {
  const counts = Map.groupBy(items, ({ title }) => title)
  return items.map(({ id, title, created_at, artwork, counts: { tracks } = { tracks: 0 } }) => {
    const parts = counts.get(title)!.length > 1 ? [exactTime(created_at), id.slice(0, 8)] : [plural(tracks, 'track')]
    return { id, title, cover: artwork, note: joined([kind, ...parts]), fields: fieldsOf(id) }
  })
}

/** Finds what a key of a type can open. Without words, the newest are found. Uploader keys cannot open playlists. */
async function find(
  client: Client,
  type: KeyType,
  words: string,
  signal: AbortSignal,
): Promise<{ ok: true; options: Option[] } | Failure> {
  const query = { limit: LIMIT, include: ['artwork', 'counts'], ...(words && { q: words }) } as const
  const [collections, playlists] = await Promise.all([
    client.get('/v1/collection', { query, signal }),
    type === 'uploader' ? null : client.get('/v1/playlist', { query, signal }),
  ])
  if (!collections.ok) return collections
  if (playlists && !playlists.ok) return playlists
  return {
    ok: true,
    options: [
      ...optionsOf(collections.collections, t('Collection'), (collection_id) => ({ collection_id })),
      ...optionsOf(playlists?.playlists ?? [], t('Playlist'), (playlist_id) => ({ playlist_id })),
    ],
  }
}

interface Properties {
  type: KeyType
  value: KeyScope | null
  onChange: (value: KeyScope | null) => void
  error: string | undefined
}

/** Returns what a key of a type can open and matches words, and whether that is still read. */
function useFound(type: KeyType, q: string) {
  const client = useClient()
  const { answer, problem, isPrevious } = useQuery<{ ok: true; options: Option[] }>({
    key: ['key scope', type, q],
    showsPrevious: true,
    load: ({ signal }) => find(client, type, q, signal),
  })
  return { found: answer?.options ?? [], problem, isReading: isPrevious || (!answer && !problem) }
}

/** The field for the collection or playlist that a key opens, with a search. Nothing is chosen at first. The focus stays in the field. */
export function ScopeField({ type, value, onChange, error }: Properties) {
  const { words, onWords, q } = useSearch()
  const [isOpen, setOpen] = useState(false)
  const [marked, setMarked] = useState<number | null>(null)
  const list = useUniqueId()
  const { found, problem, isReading } = useFound(type, q)
  const all: Option = { id: 'all', title: type === 'uploader' ? t('Any collection') : t('Everything'), fields: {} }
  const options = [...found, all]
  const isBusy = isReading || words.trim() !== q
  // Enter chooses neither an option of other words nor, for example after a typing error, the widest scope.
  const at = isBusy ? -1 : (marked ?? (found.length > 0 ? 0 : -1))
  function choose(option: Option) {
    onChange(option)
    onWords('')
    setOpen(false)
  }
  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && !isOpen) setOpen(true)
    else if (step !== undefined) {
      if (!isBusy) setMarked((Math.max(at, step < 0 ? 0 : -1) + step + options.length) % options.length)
    } else if (!isOpen || event.isComposing) return
    else if (event.key === 'Enter') {
      if (options[at]) choose(options[at])
    } else if (event.key === 'Escape') setOpen(false)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="scope-field">
      <Field label={t('Opens')} error={error || (problem && explain(problem))}>
        {(id, described) => (
          <input
            id={id}
            role="combobox"
            aria-describedby={described}
            aria-invalid={error ? true : undefined}
            aria-required="true"
            aria-expanded={isOpen}
            aria-controls={list}
            aria-activedescendant={isOpen && options[at] ? `${list}-${at}` : undefined}
            autocomplete="off"
            maxLength={MAX_STRING}
            placeholder={type === 'uploader' ? t('Find a collection') : t('Find a collection or a playlist')}
            value={value?.title ?? words}
            onFocus={() => setOpen(value === null)}
            onBlur={() => setOpen(false)}
            onClick={() => setOpen(true)}
            onInput={({ currentTarget }) => {
              if (value) onChange(null)
              setMarked(null)
              setOpen(true)
              onWords(currentTarget.value)
            }}
            onKeyDown={press}
          />
        )}
      </Field>
      <Choices {...{ id: list, options, at, isOpen, onMark: setMarked, onChoose: choose }} />
    </div>
  )
}

interface ChoicesProperties {
  id: string
  options: readonly Option[]
  /** Index of the marked option; -1 for none. */
  at: number
  isOpen: boolean
  onMark: (at: number) => void
  onChoose: (option: Option) => void
}

function Choices({ id, options, at, isOpen, onMark, onChoose }: ChoicesProperties) {
  const element = useRef<HTMLUListElement>(null)
  useEffect(() => element.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at])
  return (
    <ul
      ref={element}
      id={id}
      role="listbox"
      aria-label={t('Opens')}
      class="jump-results scope-results"
      hidden={!isOpen}
      onMouseDown={(event) => event.preventDefault()}
    >
      {options.map((option, index) => (
        <Choice
          key={option.id}
          id={`${id}-${index}`}
          option={option}
          isMarked={index === at}
          onMark={() => onMark(index)}
          onChoose={() => onChoose(option)}
        />
      ))}
    </ul>
  )
}

interface ChoiceProperties {
  id: string
  option: Option
  isMarked: boolean
  onMark: () => void
  onChoose: () => void
}

const Choice = ({ id, option: { title, note, cover }, isMarked, onMark, onChoose }: ChoiceProperties) => (
  <li id={id} role="option" aria-selected={isMarked} onPointerMove={onMark} onClick={onChoose}>
    {cover ? (
      <img class="jump-icon" src={cover.icon.url} alt="" width="36" height="36" />
    ) : (
      <span class="jump-icon">
        <Icon name="library" />
      </span>
    )}
    <span class="jump-label" dir="auto">
      {title}
    </span>
    {note && (
      <span class="jump-note" dir="auto">
        {note}
      </span>
    )}
  </li>
)
