import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { ActivityPage } from './activity/activity_page.tsx'
import { useConnection } from './data/connection.ts'
import { useOrganization } from './data/organization.ts'
import { upload, uploadAsCollection } from './data/uploads.ts'
import { Dock } from './dock.tsx'
import { KeysPage } from './keys/keys_page.tsx'
import { CollectionPage } from './library/collection_page.tsx'
import { CollectionsPage } from './library/collections_page.tsx'
import { TrackPage } from './library/track_page.tsx'
import { Navigation } from './navigation.tsx'
import { PlaylistPage } from './playlists/playlist_page.tsx'
import { PlaylistsPage } from './playlists/playlists_page.tsx'
import { href, type PageProperties, useRoute } from './route.ts'
import { SystemPage } from './system/system_page.tsx'
import { TrashPage } from './trash/trash_page.tsx'
import { byId } from './ui/announce.ts'
import { Button } from './ui/button.tsx'
import { acceptDrops } from './ui/drop.ts'
import { useScroll } from './ui/scroll.ts'
import { Empty } from './ui/states.tsx'
import { UsagePage } from './usage/usage_page.tsx'
import { VariantsPage } from './variants/variants_page.tsx'
import { DeliveryPage } from './webhooks/delivery_page.tsx'
import { WebhookPage } from './webhooks/webhook_page.tsx'
import { WebhooksPage } from './webhooks/webhooks_page.tsx'

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

/** The frame of every page: the navigation, the player, and a drop zone in the whole window. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const route = useRoute()
  const connection = useConnection()
  const main = useRef<HTMLElement>(null)
  const { is_root } = connection
  const Page = is_root ? SystemPage : (PAGES[route.page] ?? NotFound)
  const current = is_root ? 'system' : route.page

  // The names of tracks depend on a setting of the organization.
  useOrganization()
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
        <Navigation isRoot={is_root} current={current} />
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

/** Focuses the content. The hash of the link would be parsed as a page. */
function skipTo(event: Event, target: HTMLElement | null): void {
  event.preventDefault()
  target?.focus()
}

const NotFound = () => (
  <Empty title="Page not found" action={<a href={href('collections')}>Go to your collections</a>}>
    The address may be incomplete.
  </Empty>
)
