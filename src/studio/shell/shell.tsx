import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import { href, type PageProperties, useRoute } from '../base/route.ts'
import { t } from '../base/text.ts'
import { useConnection } from '../data/connection.ts'
import { useJobs } from '../data/jobs.ts'
import { togglePlay } from '../data/now_playing.ts'
import { useOrganization } from '../data/organization.ts'
import { preferences } from '../data/preferences.ts'
import { useStore } from '../data/store.ts'
import { upload, uploadAsCollection } from '../data/uploads.ts'
import { CollectionPage } from '../features/library/collection_page.tsx'
import { LibraryPage } from '../features/library/library_page.tsx'
import { OverviewPage } from '../features/overview/overview_page.tsx'
import { PlaylistsPage } from '../features/playlists/playlists_page.tsx'
import { parseShared } from '../features/sharing/open_share.ts'
import { UploadPill } from '../features/uploads/upload_pill.tsx'
import { Button, FileButton } from '../ui/controls/button.tsx'
import { chooseFiles } from '../ui/controls/choose_file.ts'
import { Icon } from '../ui/controls/icon.tsx'
import { byId } from '../ui/page/announce.ts'
import { acceptDrops } from '../ui/page/drop.ts'
import { lazyPage } from '../ui/page/lazy_page.tsx'
import { useScroll } from '../ui/page/scroll.ts'
import { Empty, NotLoaded } from '../ui/page/states.tsx'
import type { Actions } from './commands.ts'
import { Dock } from './dock.tsx'
import { Navigation, PAGES as NAMED, PhoneNavigation } from './navigation.tsx'
import { ShellDialog, type ShellDialogName } from './shell_dialog.tsx'
import { useShortcuts } from './shortcuts.ts'

const PAGES: Record<string, ComponentType<PageProperties>> = {
  overview: OverviewPage,
  collection: CollectionPage,
  library: LibraryPage,
  track: lazyPage(async () => (await import('../features/track/track_page.tsx')).TrackPage, <Waiting page="track" />),
  playlists: PlaylistsPage,
  playlist: lazyPage(
    async () => (await import('../features/playlists/playlist_page.tsx')).PlaylistPage,
    <Waiting page="playlist" />,
  ),
}
const OTHER_PAGES = [
  'search',
  'shares',
  'listening',
  'keys',
  'variants',
  'webhooks',
  'webhook',
  'delivery',
  'usage',
  'activity',
  'trash',
  'settings',
  'system',
] as const
// A reference for developers. No page links to it.
PAGES.parts = lazyPage(async () => (await import('../features/parts/parts_page.tsx')).PartsPage)
for (const name of OTHER_PAGES)
  PAGES[name] = lazyPage(async () => (await import('./other_pages.ts'))[name], <Waiting page={name} />)

const ShareDialog = lazyPage(async () => (await import('../features/sharing/share_dialog.tsx')).ShareDialog, null)

/** The frame of every page: the navigation, the player, and a drop zone in the whole window. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const route = useRoute()
  const connection = useConnection()
  const main = useRef<HTMLElement>(null)
  const [dialog, setDialog] = useState<ShellDialogName | null>(null)
  const { is_root } = connection
  // All texts and the height of rows depend on them.
  useStore(preferences)
  // The root key has only two pages.
  const current = is_root && route.page !== 'settings' ? 'system' : route.page
  const shared = is_root ? null : parseShared(route.query.share)
  const Page = Object.hasOwn(PAGES, current) ? PAGES[current]! : NotFound
  // The names of tracks depend on a setting of the organization.
  const organization = useOrganization().answer?.organization.name

  /** Uploads files into the collection that is shown, or into a new one. */
  function addFiles(files: File[]) {
    if (files.length === 0) return
    if (route.page === 'collection') upload(connection.api_key, route.id, files)
    else void uploadAsCollection(connection, files)
  }
  const actions: Actions = {
    search: () => setDialog('jump'),
    newCollection: () => setDialog('collection'),
    upload: () => void chooseFiles(DEFAULT_ACCEPT).then(addFiles),
    showShortcuts: () => setDialog('shortcuts'),
    signOut: onSignOut,
  }
  useShortcuts(is_root ? null : { ...actions, togglePlay })
  useEffect(() => (is_root ? undefined : acceptDrops(byId('drop-veil'), addFiles)), [connection, route.page, route.id])
  useScroll(route, main.current)
  useJobs(connection)

  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        {t('Skip to the content')}
      </a>
      <header class="side">
        <a class="brand" href={href(is_root ? 'system' : '')} title={organization ?? 'Tonearm'}>
          <img src="/cover/icon.jpg" alt="" width="30" height="30" />
          <span>{organization ?? 'Tonearm'}</span>
        </a>
        <Navigation isRoot={is_root} current={current} />
        <Button kind="quiet" icon="sign-out" onClick={onSignOut}>
          {t('Sign out')}
        </Button>
      </header>
      {!is_root && (
        <div class="top">
          <button type="button" class="jump" onClick={actions.search}>
            <Icon name="search" />
            <span>{t('Search or jump')}</span>
            <kbd aria-hidden="true">/</kbd>
          </button>
          <UploadPill />
          <FileButton accept={DEFAULT_ACCEPT} multiple icon="upload" onFiles={addFiles}>
            {t('Upload')}
          </FileButton>
        </div>
      )}
      <main id="main" ref={main} tabIndex={-1}>
        <Page key={`${current}/${route.id}`} id={route.id} tab={route.tab} query={route.query} />
        {shared && <ShareDialog key={route.query.share} shared={shared} />}
      </main>
      <Dock />
      <PhoneNavigation
        isRoot={is_root}
        current={current}
        onSearch={actions.search}
        onFiles={addFiles}
        onSignOut={onSignOut}
      />
      {dialog && <ShellDialog name={dialog} actions={actions} onClose={() => setDialog(null)} />}
    </>
  )
}

/** The title of a page in the navigation, until the module of the page is loaded. */
function Waiting({ page }: { page: string }) {
  const label = NAMED.find((entry) => entry.page === page)?.label
  return <NotLoaded problem={undefined} reload={() => {}} {...(label && { title: t(label) })} />
}

/** Focuses the content. The hash of the link would be parsed as a page. */
function skipTo(event: Event, target: HTMLElement | null): void {
  event.preventDefault()
  target?.focus()
}

const NotFound = () => (
  <Empty title={t('Page not found')} action={<a href={href('')}>{t('Go to the start page')}</a>}>
    {t('The address may be incomplete.')}
  </Empty>
)
