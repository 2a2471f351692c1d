import type { Memory } from '../adapters/memory.ts'
import type { Client } from '../adapters/statement.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { LISTENER } from '../principal.ts'
import { JSON_HEADERS } from './answer.ts'
import { contextOf } from './context.ts'
import { limitReading } from './limit_rate.ts'
import { keep } from './reuse.ts'

/** What Hono's own context is to this. */
interface Asked {
  env: Env
  req: { raw: Request; url: string }
  /** Takes note of whose the answer is, where it may be given again. */
  set: (name: 'organization_id', value: string) => void
}

/** The copy of the database that is nearest; it may be a moment behind. Nothing needs more of a database than a session has. */
const nearest = (d1: D1Database): Client => ({
  $client: d1.withSession('first-unconstrained') as unknown as D1Database,
})

/** Answers somebody without a key, from the nearest copy, and from the primary what is not there. Keeps what may be given again. */
export async function answerListener(
  asked: Asked,
  memory: Memory,
  { secret, reuse }: { secret: string; reuse: boolean },
  read: (context: Context<Client>) => Promise<object>,
  encode: (answer: object) => object | Promise<object>,
): Promise<Response> {
  const { env, req } = asked
  const before = memory.changes
  let reusable: { organization_id: string; until: number } | undefined
  const readFrom = (client: Client) => {
    const mayReuse: Context['mayReuse'] = (organization_id, until) => (reusable = { organization_id, until })
    return read(contextOf(asked, LISTENER, memory, client, mayReuse))
  }
  const answer = await limitReading(asked, memory, secret, () =>
    readFrom(nearest(env.DB)).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return readFrom({ $client: env.DB })
      throw error
    }),
  )
  if (reusable) asked.set('organization_id', reusable.organization_id)
  const text = JSON.stringify(await encode(answer))
  if (reuse && reusable && before === memory.changes) keep(memory, req.raw, env, text, { ...reusable, secret })
  return new Response(text, { headers: JSON_HEADERS })
}
