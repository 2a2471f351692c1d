import { go, href } from './route.ts'
import { Menu } from './ui/menu.tsx'

interface Place {
  page: string
  label: string
  /** Other pages that belong to the place. */
  pages?: readonly string[]
  /** Whether the bar of a phone shows the place. It shows the others in a menu. */
  isPrimary?: boolean
}

/** The entries of the navigation. */
const PLACES: readonly Place[] = [
  { page: 'collections', label: 'Collections', pages: ['collection', 'track'], isPrimary: true },
  { page: 'playlists', label: 'Playlists', pages: ['playlist'], isPrimary: true },
  { page: 'keys', label: 'Keys' },
  { page: 'variants', label: 'Variants' },
  { page: 'webhooks', label: 'Webhooks', pages: ['webhook', 'delivery'] },
  { page: 'usage', label: 'Usage' },
  { page: 'activity', label: 'Activity', isPrimary: true },
  { page: 'trash', label: 'Trash' },
]
/** The navigation with the root key, which belongs to no organization. */
const SYSTEM: readonly Place[] = [{ page: 'system', label: 'System', isPrimary: true }]

interface Properties {
  isRoot: boolean
  /** The page that is shown. */
  current: string
}

/** The links to the places of the studio: a side bar, a row, or on a phone a bar at the bottom. */
export function Navigation({ isRoot, current }: Properties) {
  const places = isRoot ? SYSTEM : PLACES
  const others = places.filter(({ isPrimary }) => !isPrimary)
  const isCurrent = ({ page, pages }: Place) => page === current || pages?.includes(current) === true
  return (
    <nav aria-label="Studio">
      {places.map((place) => (
        <a
          key={place.page}
          class={place.isPrimary ? undefined : 'secondary'}
          href={href(place.page)}
          aria-current={isCurrent(place) ? 'page' : undefined}
        >
          {place.label}
        </a>
      ))}
      {others.length > 0 && (
        <span class={`others ${others.some(isCurrent) ? 'current' : ''}`}>
          <Menu label="More pages" items={others.map(({ page, label }) => ({ label, onSelect: () => go(page) }))} />
        </span>
      )}
    </nav>
  )
}
