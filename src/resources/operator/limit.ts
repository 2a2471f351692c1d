import type { Handlers } from '../../context.ts'
import { limitsOf, type limitOperations } from '../../contract/limit.ts'

export const limitHandlers: Handlers<typeof limitOperations> = {
  listLimits: async (_input, { env }) => ({ limits: limitsOf(env) }),
}
