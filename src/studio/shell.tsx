import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { byId } from './announce.ts'
import { useConnection } from './data/connection.ts'
import { findOrganization, organization } from './data/organization.ts'
import { useStore } from './data/store.ts'
import { upload, uploadAsCollection } from './data/uploads.ts'
import { Dock } from './dock.tsx'
import { acceptDrops } from './drop.ts'
import { ActivityPage } from './pages/activity.tsx'
import { CollectionPage } from './pages/collection.tsx'
import { CollectionsPage } from './pages/collections.tsx'
import { DeliveryPage } from './pages/delivery.tsx'
import { KeysPage } from './pages/keys.tsx'
import { PlaylistPage } from './pages/playlist.tsx'
import { PlaylistsPage } from './pages/playlists.tsx'
import { SystemPage } from './pages/system.tsx'
import { TrackPage } from './pages/track.tsx'
import { TrashPage } from './pages/trash.tsx'
import { VariantsPage } from './pages/variants.tsx'
import { WebhookPage } from './pages/webhook.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { Button } from './parts/button.tsx'
import { Empty } from './parts/states.tsx'
import { href, type PageProperties, useRoute } from './route.ts'
import { useScroll } from './scroll.ts'
import { UsagePage } from './usage/usage_page.tsx'

const PAGES: Record<string, ComponentType<PageProperties>> = {
  collections: CollectionsPage,
  collection: CollectionPage,
  track: TrackPage,
  playlists: PlaylistsPage,
  playlist: PlaylistPage,
  keys: KeysPage,
  variants: VariantsPage,
  webhooks: WebhooksPage,
  webhook: WebhookPage,
  delivery: DeliveryPage,
  usage: UsagePage,
  activity: ActivityPage,
  trash: TrashPage,
}

/** The places of the studio, and the pages that belong to each. */
const PLACES = [
  ['collections', 'Collections', ['collections', 'collection', 'track']],
  ['playlists', 'Playlists', ['playlists', 'playlist']],
  ['keys', 'Keys', ['keys']],
  ['variants', 'Variants', ['variants']],
  ['webhooks', 'Webhooks', ['webhooks', 'webhook', 'delivery']],
  ['usage', 'Usage', ['usage']],
  ['activity', 'Activity', ['activity']],
  ['trash', 'Trash', ['trash']],
] as const
/** The one place of the operator, who belongs to no organization. */
const SYSTEM = [['system', 'System', ['system']]] as const

/** What stands around every page: places, player, and the whole window as a place to drop files on. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const route = useRoute()
  const connection = useConnection()
  const main = useRef<HTMLElement>(null)
  const { is_root } = connection
  const Page = is_root ? SystemPage : (PAGES[route.page] ?? NotFound)
  const current = is_root ? 'system' : route.page

  // Names of tracks depend on it.
  useStore(organization)
  useEffect(() => (is_root ? undefined : findOrganization(connection.client)), [connection])
  useEffect(() => {
    if (is_root) return undefined
    return acceptDrops(byId('drop-veil'), (files) => {
      if (route.page === 'collection') upload(connection.api_key, route.id, files)
      else void uploadAsCollection(connection, files)
    })
  }, [connection, route.page, route.id])

  useScroll(route, main.current)
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={href(is_root ? 'system' : 'collections')}>
          <img src="/cover/icon.jpg" alt="" width="30" height="30" />
          Tonearm
        </a>
        <nav aria-label="Studio">
          {(is_root ? SYSTEM : PLACES).map(([page, label, pages]) => (
            <a
              key={page}
              href={href(page)}
              aria-current={(pages as readonly string[]).includes(current) ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <a class="reference" href="/docs" target="_blank" rel="noopener">
          API
        </a>
        <Button kind="quiet" small onClick={onSignOut}>
          Sign out
        </Button>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Page key={`${route.page}/${route.id}`} id={route.id} tab={route.tab} />
      </main>
      <Dock />
    </>
  )
}

/** A hash of its own would be taken for a page. */
function skipTo(event: Event, target: HTMLElement | null): void {
  event.preventDefault()
  target?.focus()
}

const NotFound = () => (
  <Empty title="There is no such page" action={<a href={href('collections')}>To your collections</a>}>
    The address may be incomplete.
  </Empty>
)
