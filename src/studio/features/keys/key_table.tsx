import type { ApiKey, KeyType } from '../../base/api.ts'
import { date, dateTime, joined, listText } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import { Menu } from '../../ui/controls/menu.tsx'

/** A key in the list, with the title of the resource to which it is bound; null if that no longer exists. */
export type ListedKey = ApiKey & { resource?: { title: string | null } | null | undefined }

const KINDS: Record<KeyType, string> = {
  server: text('Server'),
  player: text('Player'),
  uploader: text('Uploader'),
  signing: text('Signing'),
}
const SCOPES = { collection: text('Collection'), track: text('Track'), playlist: text('Playlist') }

interface Actions {
  onEdit: (key: ListedKey) => void
  onRotate: (key: ListedKey) => void
  onRevoke: (key: ListedKey) => unknown
}

/** The keys of the organization, with the resources that they open, their sites and their last use. */
export const KeyTable = ({ keys, ...actions }: Actions & { keys: readonly ListedKey[] }) => (
  <div class="table-box">
    <table class="stacked key-table" aria-label={t('Keys')}>
      <thead>
        <tr>
          <th>{t('Title')}</th>
          <th>{t('Kind')}</th>
          <th>{t('Opens')}</th>
          <th>{t('Sites')}</th>
          <th>{t('Last used')}</th>
          <th class="menu-cell">
            <span class="visually-hidden">{t('Actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Row key={key.id} api_key={key} {...actions} />
        ))}
      </tbody>
    </table>
  </div>
)

function Row({ api_key, onEdit, onRotate, onRevoke }: Actions & { api_key: ListedKey }) {
  const { title, type, hint, allowed_origins, expires_at, created_at, last_used_at } = api_key
  return (
    <tr>
      <th scope="row">
        <span class="key-name">
          <span class="name" dir="auto">
            {title}
          </span>
          <code class="hint">{hint}…</code>
        </span>
      </th>
      <td data-label={t('Kind')}>
        <span class={`badge ${type}`}>{t(KINDS[type])}</span>
      </td>
      <td data-label={t('Opens')}>
        <Opened api_key={api_key} />
      </td>
      <td data-label={t('Sites')}>
        <span class={type === 'server' ? 'key-name soft' : 'key-name'}>
          {type === 'server' && t('only on your server')}
          {type !== 'server' &&
            (allowed_origins?.map((origin) => <span key={origin}>{origin.replace('https://', '')}</span>) ??
              t('any site'))}
        </span>
      </td>
      <td data-label={t('Last used')}>
        <span class="key-name" title={last_used_at ? dateTime(last_used_at) : undefined}>
          <span>{last_used_at ? date(last_used_at) : t('never')}</span>
          <span class="hint">
            {expires_at
              ? t('Ends {date}', { date: date(expires_at) })
              : t('Created {date}', { date: date(created_at) })}
          </span>
        </span>
      </td>
      <td class="menu-cell">
        <Menu
          label={t('More for {title}', { title })}
          items={[
            { label: t('Edit key …'), onSelect: () => onEdit(api_key) },
            { label: t('New secret …'), onSelect: () => onRotate(api_key) },
            { label: t('Revoke key …'), danger: true, onSelect: () => onRevoke(api_key) },
          ]}
        />
      </td>
    </tr>
  )
}

/** The resource to which a key gives access, and its limits. */
function Opened({ api_key }: { api_key: ListedKey }) {
  const { type, variants, is_downloadable, resource } = api_key
  const bound = (['collection', 'track', 'playlist'] as const).find((scope) => api_key[`${scope}_id`])
  const facts = [
    bound && t(SCOPES[bound]),
    variants && listText(variants),
    is_downloadable && t('with downloads'),
  ].filter(Boolean)
  return (
    <span class="key-name">
      {bound && resource?.title ? (
        <a href={href(bound, api_key[`${bound}_id`] ?? '')} dir="auto">
          {resource.title}
        </a>
      ) : (
        <span>
          {bound ? t('nothing: it was deleted') : type === 'uploader' ? t('any collection') : t('everything')}
        </span>
      )}
      {facts.length > 0 && <span class="hint">{joined(facts)}</span>}
    </span>
  )
}
