import { useState } from 'preact/hooks'

import type { PlayScope } from '../api.ts'
import { explain } from '../format.ts'
import { useClient } from '../state/client.ts'
import { Button } from './button.tsx'
import { Copyable } from './copyable.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { playerCode } from './snippets.ts'
import { Message } from './states.tsx'

/** What people write, one origin after the other, as the service takes it. */
export const originsOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((origin) => origin.toLowerCase().replace(/\/+$/, ''))

/** Makes a player key that opens one thing on the pages of one site: its players make their own sessions, for as long as it lives. */
export function LastingEmbed({ scope, id }: { scope: PlayScope; id: string }) {
  const client = useClient()
  const [origins, setOrigins] = useState('')
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState('')
  async function create() {
    const allowed = originsOf(origins)
    const body = {
      title: `Player on ${allowed[0] ?? 'any site'}`.slice(0, 255),
      type: 'player' as const,
      [`${scope}_id`]: id,
      ...(allowed.length > 0 && { allowed_origins: allowed }),
    }
    const answer = await client.post('/v1/api_key', { body })
    setProblem(answer.ok ? '' : explain(answer))
    if (answer.ok) setSecret(answer.secret)
  }
  return (
    <section class="card" aria-labelledby="lasting-title">
      <h2 id="lasting-title">A player for good</h2>
      <p class="soft">
        A player key opens only this, on the sites that you name, until you revoke it. The player makes its own sessions
        with it.
      </p>
      <Form onSubmit={create}>
        <TextField
          label="Sites"
          value={origins}
          onInput={setOrigins}
          placeholder="https://www.example.com"
          hint="Origins, with spaces between them. Empty: any site."
        />
        <div class="actions">
          <Button type="submit">Create player key</Button>
        </div>
        <Message>{problem}</Message>
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
