import type { ComponentChildren } from 'preact'

import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import { go, href } from '../base/route.ts'
import { t, text } from '../base/text.ts'
import { FileButton } from '../ui/controls/button.tsx'
import { Icon, type IconName } from '../ui/controls/icon.tsx'
import { Menu } from '../ui/controls/menu.tsx'

interface Entry {
  page: string
  label: string
  icon: IconName
  /** Other pages that belong to the entry. */
  pages?: readonly string[]
}

interface Group {
  label?: string
  entries: readonly Entry[]
}

const GROUPS: readonly Group[] = [
  {
    entries: [
      { page: 'overview', label: text('Overview'), icon: 'overview' },
      { page: 'library', label: text('Library'), icon: 'library', pages: ['collection', 'track'] },
      { page: 'playlists', label: text('Playlists'), icon: 'playlist', pages: ['playlist'] },
      { page: 'shares', label: text('Shares'), icon: 'share' },
      { page: 'listening', label: text('Listening'), icon: 'listening' },
    ],
  },
  {
    label: text('Build'),
    entries: [
      { page: 'keys', label: text('Keys'), icon: 'key' },
      { page: 'webhooks', label: text('Webhooks'), icon: 'webhook', pages: ['webhook', 'delivery'] },
      { page: 'variants', label: text('Variants'), icon: 'variants' },
    ],
  },
  {
    label: text('Organization'),
    entries: [
      { page: 'usage', label: text('Usage'), icon: 'usage' },
      { page: 'activity', label: text('Activity'), icon: 'activity' },
      { page: 'trash', label: text('Trash'), icon: 'trash' },
      { page: 'settings', label: text('Settings'), icon: 'settings' },
    ],
  },
]
/** The entries for the root key, which belongs to no organization. */
const SYSTEM: readonly Group[] = [
  {
    entries: [
      { page: 'system', label: text('System'), icon: 'usage' },
      { page: 'settings', label: text('Settings'), icon: 'settings' },
    ],
  },
]
/** The entries in the bar of a phone. Its menu has the others. */
const PRIMARY = ['library', 'playlists', 'system']

/** All pages of an organization, for the field that jumps to them. */
export const PAGES = GROUPS.flatMap(({ entries }) => entries)

interface Properties {
  isRoot: boolean
  /** The page that is shown. */
  current: string
}

const isCurrent = ({ page, pages }: Entry, current: string) => page === current || pages?.includes(current) === true

/** The navigation at the side: names and icons in a wide window, only icons in a narrow one. */
export function Navigation({ isRoot, current }: Properties) {
  return (
    <nav aria-label={t('Studio')} class="side-nav">
      {(isRoot ? SYSTEM : GROUPS).map(({ label, entries }) => (
        <div key={label} class="nav-group">
          {label && <p class="nav-label">{t(label)}</p>}
          {entries.map((entry) => (
            <a
              key={entry.page}
              href={href(entry.page)}
              title={t(entry.label)}
              aria-current={isCurrent(entry, current) ? 'page' : undefined}
            >
              <Icon name={entry.icon} />
              <span>{t(entry.label)}</span>
            </a>
          ))}
          {label === 'Build' && (
            <a href="/docs" target="_blank" rel="noopener" title={t('API')}>
              <Icon name="external" />
              <span>{t('API')}</span>
            </a>
          )}
        </div>
      ))}
    </nav>
  )
}

interface PhoneProperties extends Properties {
  onSearch: () => void
  onFiles: (files: File[]) => unknown
  onSignOut: () => void
}

/** The navigation at the bottom of a phone. */
export function PhoneNavigation({ isRoot, current, onSearch, onFiles, onSignOut }: PhoneProperties) {
  const entries = (isRoot ? SYSTEM : GROUPS).flatMap((group) => group.entries)
  const isPrimary = ({ page }: Entry) => PRIMARY.includes(page)
  const link = (entry: Entry) => (
    <a key={entry.page} href={href(entry.page)} aria-current={isCurrent(entry, current) ? 'page' : undefined}>
      <Icon name={entry.icon} />
      {t(entry.label)}
    </a>
  )
  const [first, ...rest] = entries.filter(isPrimary)
  const others = entries.filter((entry) => !isPrimary(entry))
  return (
    <nav aria-label={t('Studio')} class="phone-nav">
      {first && link(first)}
      {!isRoot && (
        <>
          <button type="button" class="tab" onClick={onSearch}>
            <Icon name="search" />
            {t('Search')}
          </button>
          <Labeled label={t('Upload')}>
            <FileButton
              accept={DEFAULT_ACCEPT}
              multiple
              kind="primary"
              icon="plus"
              label={t('Upload')}
              onFiles={onFiles}
            />
          </Labeled>
        </>
      )}
      {rest.map(link)}
      <span class={`others ${others.some((entry) => isCurrent(entry, current)) ? 'current' : ''}`}>
        <Menu
          label={t('More pages')}
          items={[
            ...others.map(({ page, label }) => ({ label: t(label), onSelect: () => go(page) })),
            { label: t('API reference'), onSelect: () => open('/docs', '_blank') },
            { label: t('Sign out'), onSelect: onSignOut },
          ]}
        />
      </span>
    </nav>
  )
}

/** A control in the bar of a phone. Its name is visible, but only the control announces it. */
const Labeled = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <span class="tab">
    {children}
    <span aria-hidden="true">{label}</span>
  </span>
)
