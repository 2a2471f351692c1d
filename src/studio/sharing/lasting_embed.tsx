import { useState } from 'preact/hooks'

import { MAX_STRING } from '../../contract/facts.ts'
import type { PlayScope } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { type Faults, faultsOf } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copyable.tsx'
import { Form } from '../ui/form.tsx'
import { Message } from '../ui/states.tsx'
import { sitesOf } from './sites.ts'
import { SitesField } from './sites_field.tsx'
import { playerCode } from './snippets.ts'

/** Creates a player key for one resource and one site. Its players create their own sessions until it expires. */
export function LastingEmbed({ scope, id }: { scope: PlayScope; id: string }) {
  const client = useClient()
  const [sites, setSites] = useState('')
  const [secret, setSecret] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  async function create() {
    const { origins: allowed, fault } = sitesOf(sites)
    if (fault) return setFaults({ allowed_origins: fault })
    const body = {
      title: `Player on ${allowed[0] ?? 'any site'}`.slice(0, MAX_STRING),
      type: 'player' as const,
      [`${scope}_id`]: id,
      ...(allowed.length > 0 && { allowed_origins: allowed }),
    }
    const answer = await client.post('/v1/api_key', { body })
    setFaults(answer.ok ? {} : faultsOf(answer, ['allowed_origins']))
    if (answer.ok) setSecret(answer.secret)
  }
  return (
    <section class="card" aria-labelledby="player-key-title">
      <h2 id="player-key-title">Permanent player</h2>
      <p class="soft">
        A player key opens only this, on the sites that you name, until you revoke it. The player makes its own sessions
        with it.
      </p>
      <Form onSubmit={create}>
        <SitesField value={sites} onInput={setSites} error={faults.allowed_origins} />
        <div class="actions">
          <Button type="submit">Create player key</Button>
        </div>
        <Message>{faults.other}</Message>
      </Form>
      {secret && (
        <Copyable
          label="Player element with key"
          value={playerCode(location.origin, { 'api-key': secret, scope, 'resource-id': id })}
        />
      )}
    </section>
  )
}
