import { useState } from 'preact/hooks'

import { MAX_STRING } from '../../../contract/facts.ts'
import type { PlayScope } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Message } from '../../ui/page/states.tsx'
import { keyTitle, sitesOf } from './sites.ts'
import { confirmsSites, SitesField } from './sites_field.tsx'
import { playerCode } from './snippets.ts'

interface Properties {
  scope: PlayScope
  id: string
  /** The attributes of the player in the code. */
  attributes: Record<string, string>
}

/** Creates a player key for one resource and some sites. Its players create their own sessions until it is revoked. */
export function PlayerKey({ scope, id, attributes }: Properties) {
  const client = useClient()
  const [sites, setSites] = useState('')
  const [secret, setSecret] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  async function create() {
    const { origins: allowed, fault } = sitesOf(sites)
    if (fault) return setFaults({ allowed_origins: fault })
    if (allowed.length === 0 && !(await confirmsSites())) return
    const body = {
      title: keyTitle(allowed[0]).slice(0, MAX_STRING),
      type: 'player' as const,
      [`${scope}_id`]: id,
      ...(allowed.length > 0 && { allowed_origins: allowed }),
    }
    const answer = await client.post('/v1/api_key', { body })
    setFaults(answer.ok ? {} : faultsOf(answer, ['allowed_origins']))
    if (answer.ok) setSecret(answer.secret)
  }
  return (
    <>
      <p class="soft">
        {t('A player key opens only this, on the sites that you name, until you revoke it; no link or page is public.')}
      </p>
      <Form onSubmit={create}>
        <SitesField value={sites} onInput={setSites} error={faults.allowed_origins} />
        <div class="actions">
          <Button type="submit">{t('Create player key')}</Button>
        </div>
        <Message>{faults.other}</Message>
      </Form>
      {secret && (
        <>
          <Copyable
            label={t('Player element with key')}
            value={playerCode(location.origin, { 'api-key': secret, scope, 'resource-id': id, ...attributes })}
          />
          <p class="hint">
            <a href={href('keys')}>{t('The key is listed under Keys.')}</a>
          </p>
        </>
      )}
    </>
  )
}
