import { go, href } from './route.ts'
import { Menu } from './ui/menu.tsx'

interface Entry {
  page: string
  label: string
  /** Other pages that belong to the entry. */
  pages?: readonly string[]
  /** Whether the bar on a phone shows the entry. Its menu has the others. */
  isPrimary?: boolean
}

const ENTRIES: readonly Entry[] = [
  { page: 'collections', label: 'Collections', pages: ['collection', 'track'], isPrimary: true },
  { page: 'playlists', label: 'Playlists', pages: ['playlist'], isPrimary: true },
  { page: 'keys', label: 'Keys' },
  { page: 'variants', label: 'Variants' },
  { page: 'webhooks', label: 'Webhooks', pages: ['webhook', 'delivery'] },
  { page: 'usage', label: 'Usage' },
  { page: 'activity', label: 'Activity', isPrimary: true },
  { page: 'trash', label: 'Trash' },
]
/** The entries for the root key, which belongs to no organization. */
const SYSTEM: readonly Entry[] = [{ page: 'system', label: 'System', isPrimary: true }]

interface Properties {
  isRoot: boolean
  /** The page that is shown. */
  current: string
}

/** The navigation of the studio: a side bar, a row below the title, or on a phone a bar at the bottom. */
export function Navigation({ isRoot, current }: Properties) {
  const entries = isRoot ? SYSTEM : ENTRIES
  const others = entries.filter(({ isPrimary }) => !isPrimary)
  const isCurrent = ({ page, pages }: Entry) => page === current || pages?.includes(current) === true
  return (
    <nav aria-label="Studio">
      {entries.map((entry) => (
        <a
          key={entry.page}
          class={entry.isPrimary ? undefined : 'secondary'}
          href={href(entry.page)}
          aria-current={isCurrent(entry) ? 'page' : undefined}
        >
          {entry.label}
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
