import { useState } from 'preact/hooks'

import type { ApiKey, KeyType } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { date, explain, listText, plural } from '../format.ts'
import { href } from '../route.ts'
import { t, text } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { Loading, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { EditKey } from './edit_key.tsx'
import { KeyUse } from './key_use.tsx'
import { NewKey } from './new_key.tsx'
import { NewSecret } from './new_secret.tsx'

const KINDS: Record<KeyType, string> = { server: text('Server'), player: text('Player'), uploader: text('Uploader') }
const BOUND = { collection: text('one collection'), track: text('one track'), playlist: text('one playlist') }

/** The page Keys: all keys of the organization, with their permissions and actions. */
export function KeysPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useList('/v1/api_key', ({ api_keys }) => api_keys)
  const [making, setMaking] = useState(false)
  const [editing, setEditing] = useState<ApiKey | null>(null)
  const [rotating, setRotating] = useState<ApiKey | null>(null)
  useTitle(t('Keys'))

  async function revoke({ id, title }: ApiKey) {
    const question = {
      title: t('Revoke this key?'),
      text: t('Everything that uses {title} stops working within 30 seconds.', { title }),
      action: t('Revoke key'),
    }
    if (!(await confirmed(question))) return
    const answer = await client.delete('/v1/api_key/{api_key_id}', { params: { api_key_id: id } })
    announce(answer.ok ? t('{title} revoked', { title }) : explain(answer))
    reload()
  }
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Keys')}</h1>
          {entries.length > 0 && <p class="soft">{plural(count, 'key')}</p>}
        </div>
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          {t('New key')}
        </Button>
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={4} />}
      <ul class="keys" aria-label={t('Keys')}>
        {entries.map((key) => (
          <KeyRow
            key={key.id}
            api_key={key}
            onEdit={() => setEditing(key)}
            onRotate={() => setRotating(key)}
            onRevoke={() => revoke(key)}
          />
        ))}
      </ul>
      {making && <NewKey onMade={reload} onClose={() => setMaking(false)} />}
      {editing && <EditKey api_key={editing} onSaved={reload} onClose={() => setEditing(null)} />}
      {rotating && (
        <NewSecret
          title={rotating.title}
          api_key={rotating}
          rotate={(grace_seconds) =>
            client.post('/v1/api_key/{api_key_id}/rotate', {
              params: { api_key_id: rotating.id },
              body: { grace_seconds },
            })
          }
          onClose={() => setRotating(null)}
        />
      )}
    </>
  )
}

interface RowProperties {
  api_key: ApiKey
  onEdit: () => void
  onRotate: () => void
  onRevoke: () => unknown
}

function KeyRow({ api_key, onEdit, onRotate, onRevoke }: RowProperties) {
  const { title, type, hint, allowed_origins, variants, is_downloadable, expires_at, created_at, last_used_at } =
    api_key
  const bound = (['collection', 'track', 'playlist'] as const).find((scope) => api_key[`${scope}_id`])
  const facts = [
    bound ? '' : type === 'server' ? t('everything') : t('any collection'),
    allowed_origins ? listText(allowed_origins) : type === 'server' ? '' : t('any site'),
    variants ? listText(variants) : '',
    is_downloadable ? t('with downloads') : '',
  ].filter(Boolean)
  return (
    <li class="card key">
      <div class="key-text">
        <span class="name">
          {title} <span class={`badge ${type}`}>{t(KINDS[type])}</span>
        </span>
        <span class="soft">
          {bound && <a href={href(bound, api_key[`${bound}_id`] ?? '')}>{t(BOUND[bound])}</a>}
          {bound && facts.length > 0 && ' · '}
          {facts.join(' · ')}
        </span>
      </div>
      <code class="soft">{hint}…</code>
      <div class="key-dates soft">
        <span>{t('Created {date}', { date: date(created_at) })}</span>
        <span>{last_used_at ? t('Used {date}', { date: date(last_used_at) }) : t('Never used')}</span>
        {expires_at && <span>{t('Ends {date}', { date: date(expires_at) })}</span>}
      </div>
      <Menu
        label={t('More for {title}', { title })}
        items={[
          { label: t('Edit key …'), onSelect: onEdit },
          { label: t('New secret …'), onSelect: onRotate },
          { label: t('Revoke key …'), danger: true, onSelect: onRevoke },
        ]}
      />
      {type === 'uploader' && <KeyUse api_key={api_key} />}
    </li>
  )
}
