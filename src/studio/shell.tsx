import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { useConnection } from './data/connection.ts'
import { useOrganization } from './data/organization.ts'
import { useStore } from './data/store.ts'
import { upload, uploadAsCollection } from './data/uploads.ts'
import { Dock } from './dock.tsx'
import { CollectionPage } from './library/collection_page.tsx'
import { CollectionsPage } from './library/collections_page.tsx'
import { TrackPage } from './library/track_page.tsx'
import { Navigation } from './navigation.tsx'
import { PlaylistPage } from './playlists/playlist_page.tsx'
import { PlaylistsPage } from './playlists/playlists_page.tsx'
import { preferences } from './preferences.ts'
import { href, type PageProperties, useRoute } from './route.ts'
import { byId } from './ui/announce.ts'
import { Button } from './ui/button.tsx'
import { acceptDrops } from './ui/drop.ts'
import { lazyPage } from './ui/lazy_page.tsx'
import { useScroll } from './ui/scroll.ts'
import { Empty } from './ui/states.tsx'

const PAGES: Record<string, ComponentType<PageProperties>> = {
  collections: CollectionsPage,
  collection: CollectionPage,
  track: TrackPage,
  playlists: PlaylistsPage,
  playlist: PlaylistPage,
}
for (const name of [
  'keys',
  'variants',
  'webhooks',
  'webhook',
  'delivery',
  'usage',
  'activity',
  'trash',
  'system',
] as const) {
  PAGES[name] = lazyPage(async () => (await import('./other_pages.ts'))[name])
}

/** The frame of every page: the navigation, the player, and a drop zone in the whole window. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const route = useRoute()
  const connection = useConnection()
  const main = useRef<HTMLElement>(null)
  const { is_root } = connection
  // Texts and row heights depend on them.
  useStore(preferences)
  const current = is_root ? 'system' : route.page
  const Page = Object.hasOwn(PAGES, current) ? PAGES[current]! : NotFound

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
        <Page key={`${route.page}/${route.id}`} id={route.id} tab={route.tab} query={route.query} />
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
