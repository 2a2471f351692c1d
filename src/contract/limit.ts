import * as z from 'zod'

import { ok } from './common.ts'
import { defineOperations } from './operation.ts'

/** One limit of the service: what it bounds, its number, and the number's unit. */
export const Limit = z.object({ name: z.string(), value: z.number(), unit: z.string(), applies_to: z.string() })

export const limitOperations = defineOperations({
  listLimits: {
    method: 'get',
    path: '/v1/limits',
    summary: 'List the limits of this service',
    tag: 'Limits',
    access: ['root', 'server', 'player', 'uploader'],
    response: ok({ limits: z.array(Limit) }),
    errors: [401],
  },
})
