import { useEffect, useState } from 'preact/hooks'

import { href, type PageProperties, parseRoute } from '../route.ts'
import { useTitle } from '../ui/title.ts'
import { PATTERNS, wordsOf } from './event.ts'
import { type Asked, EventList } from './event_list.tsx'

const OPTIONS = ['', ...PATTERNS].map((pattern) => [pattern, wordsOf(pattern || '*')] as const)

/** All, where an address names a type that there is not. */
const typeOf = (id: string) => (PATTERNS.includes(id) ? id : '')

/** Who has changed what: the events of 30 days, of all types, a group or one. */
export function ActivityPage({ id }: PageProperties) {
  useTitle('Activity')
  const [type, setType] = useState(typeOf(id))
  // What was chosen here is in the address alone: the page is not told when that changes back.
  useEffect(() => {
    const follow = () => {
      const route = parseRoute(location.hash)
      if (route.page === 'activity') setType(typeOf(route.id))
    }
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  /** In the address for whoever comes back; the page, and what has the focus, stay. */
  function choose(pattern: string) {
    history.replaceState(history.state, '', href('activity', pattern))
    setType(pattern)
  }
  const asked: Asked = type ? { type: type as 'track.*' } : {}
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Activity</h1>
          <p class="soft">What happened, and who did it.</p>
        </div>
        <select aria-label="Show" value={type} onChange={(event) => choose(event.currentTarget.value)}>
          {OPTIONS.map(([pattern, label]) => (
            <option key={pattern} value={pattern} selected={pattern === type}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <EventList asked={asked} label="Activity" />
    </>
  )
}
