import { useState } from 'preact/hooks'

import { plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useList } from '../../data/list.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { WebhookForm } from './webhook_form.tsx'
import { WebhookTable } from './webhook_table.tsx'

/** The page Webhooks: all endpoints and their health. */
export function WebhooksPage() {
  const { entries, count, loading, problem, reload } = useList(
    '/v1/webhook_endpoint',
    ({ webhook_endpoints }) => webhook_endpoints,
    { query: { include: 'day' } },
  )
  const [making, setMaking] = useState(false)
  useTitle(t('Webhooks'))
  const isEmpty = !loading && !problem && entries.length === 0
  const button = (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      {t('New webhook')}
    </Button>
  )
  return (
    <>
      <Head title={t('Webhooks')} note={entries.length > 0 && plural(count, 'webhook')}>
        {!isEmpty && button}
      </Head>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="table" rows={4} />}
      {isEmpty && (
        <Empty title={t('No webhooks yet')} action={button}>
          {t('A webhook is a URL of your server that receives events, for example when a track is ready.')}
        </Empty>
      )}
      {entries.length > 0 && <WebhookTable endpoints={entries} />}
      {making && <WebhookForm endpoint={null} onSaved={reload} onClose={() => setMaking(false)} />}
    </>
  )
}
