import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Failure } from '../../src/client/index.ts'
import { Fault } from '../backup/service.ts'

/** A request that the service has refused. */
export class Refused extends Fault {
  readonly code: string

  constructor({ code, message, errors }: Pick<Failure, 'code' | 'message' | 'errors'>) {
    const details = errors?.map(({ path, message }) => `${path} ${message}`).join(', ')
    super(details || `${message} (${code})`)
    this.code = code
  }
}

interface Creation {
  /** The values that identify the resource in all runs. */
  identity: string[]
  create: (idempotency_key: string) => Promise<{ ok: true; id: string } | Failure>
  /** Returns the id of the resource if it exists; null otherwise. */
  find: () => Promise<string | null>
  read: (id: string) => Promise<{ ok: true } | Failure>
  /** The ids of resources with this identity that are known to be deleted. */
  gone?: string[]
}

/** Milliseconds between two attempts to find a resource that another run creates, and their number. */
const PAUSE = 1000
const ATTEMPTS = 5

/**
 * Creates a resource once, even if a former run was killed before it saw the response, or another one runs at the same time: the `Idempotency-Key` follows
 * from the identity, so the service returns the first response again. If that resource was deleted since, the next key contains its id.
 */
export async function createOnce({ identity, create, find, read, gone = [] }: Creation): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const key = createHash('sha256')
      .update(JSON.stringify([...identity, ...gone]))
      .digest('hex')
    const answer = await create(`import-${key}`)
    if (answer.ok) {
      const found = await read(answer.id)
      if (found.ok) return answer.id
      // Only this status says that it was deleted. After any other failure, a second resource could be created.
      if (found.status !== 404) throw new Refused(found)
      gone = [...gone, answer.id]
    } else if (answer.code === 'idempotency_key_reused') {
      // Another run has sent, or is sending, a request with other values, such as a newer signature.
      const found = await find()
      if (found !== null) return found
      if (attempt % ATTEMPTS === 0) gone = [...gone, 'deleted']
      else await sleep(PAUSE)
    } else throw new Refused(answer)
    if (attempt === 4 * ATTEMPTS) throw new Fault('another import creates and deletes it at the same time')
  }
}
