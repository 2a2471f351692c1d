import { useState } from 'preact/hooks'

import type { ApiKey } from '../../base/api.ts'
import { explain, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { Button } from '../../ui/controls/button.tsx'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { EditKey } from './edit_key.tsx'
import { KeyTable } from './key_table.tsx'
import { NewKey } from './new_key.tsx'
import { NewSecret } from './new_secret.tsx'

/** The page Keys: all keys of the organization, with their permissions and actions. */
export function KeysPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useList('/v1/api_key', ({ api_keys }) => api_keys, {
    query: { include: ['resource'] },
  })
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
      <Head title={t('Keys')} note={entries.length > 0 && plural(count, 'key')}>
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          {t('New key')}
        </Button>
      </Head>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="table" rows={5} />}
      {entries.length > 0 && <KeyTable keys={entries} onEdit={setEditing} onRotate={setRotating} onRevoke={revoke} />}
      {making && <NewKey onMade={reload} onClose={() => setMaking(false)} />}
      {editing && <EditKey api_key={editing} onSaved={reload} onClose={() => setEditing(null)} />}
      {rotating && (
        <NewSecret
          title={rotating.title}
          owner={{ api_key: rotating }}
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
