import type { Handlers } from '../../context.ts'
import type { heardOperations } from '../../contract/heard.ts'
import { verifyHeardToken } from './heard_grant.ts'

export const heardHandlers: Handlers<typeof heardOperations> = {
  async reportHeard({ params: { token } }, { env, now }) {
    await verifyHeardToken(env, token, now)
    return {}
  },
}
