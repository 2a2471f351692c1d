import { useEffect, useState } from 'preact/hooks'

import { href, type PageProperties, parseRoute } from '../route.ts'
import { useTitle } from '../ui/title.ts'
import { PATTERNS, wordsOf } from './event.ts'
import { type EventFilter, EventList } from './event_list.tsx'

const OPTIONS = ['', ...PATTERNS].map((pattern) => [pattern, wordsOf(pattern || '*')] as const)

/** Returns the type in the address, or an empty string for all types if it is unknown. */
const typeOf = (id: string) => (PATTERNS.includes(id) ? id : '')

/** The page Activity: the events of the last 30 days, of all types, a group or one type. */
export function ActivityPage({ id }: PageProperties) {
  useTitle('Activity')
  const [type, setType] = useState(typeOf(id))
  // The address has the choice, and `replaceState` does not notify the page, so the page follows the event itself.
  useEffect(() => {
    const follow = () => {
      const route = parseRoute(location.hash)
      if (route.page === 'activity') setType(typeOf(route.id))
    }
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  /** Stores the choice in the address, so that it remains after a reload. The page and the focus do not change. */
  function choose(pattern: string) {
    history.replaceState(history.state, '', href('activity', pattern))
    setType(pattern)
  }
  const filter: EventFilter = type ? { type: type as 'track.*' } : {}
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Activity</h1>
          <p class="soft">Changes of the last 30 days, and who made them.</p>
        </div>
        <select aria-label="Show" value={type} onChange={(event) => choose(event.currentTarget.value)}>
          {OPTIONS.map(([pattern, label]) => (
            <option key={pattern} value={pattern} selected={pattern === type}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <EventList filter={filter} label="Activity" />
    </>
  )
}
