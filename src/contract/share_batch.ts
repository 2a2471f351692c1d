import * as z from 'zod'

import { ErrorCode, named, ok } from './common.ts'
import { MAX_BATCH, MAX_BATCH_BYTES } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Share, ShareCreate } from './share.ts'

/** A share to create. It has no password, because each password takes many rounds of hashing. */
const NewShare = ShareCreate.omit({ password: true }).meta({ id: 'NewShare' })
export type NewShare = z.output<typeof NewShare>

/** The result for one share. A share that was not created has the code and the message of the response to `POST /v1/share`. */
export const ShareCreated = named('ShareCreated', {
  /** Whether the share was created. */
  ok: z.boolean(),
  /** The same as `share.id`; absent if the share was not created. */
  share_id: z.uuid().optional(),
  share: Share.optional(),
  code: ErrorCode.optional(),
  /** Why the share was not created, for people. */
  message: z.string().optional(),
})

export const shareBatchOperations = defineOperations({
  createShares: {
    method: 'post',
    path: '/v1/share/batch',
    grows: 'content',
    summary:
      'Create many shares, such as a private feed for each subscriber; each has its own result, in the same order',
    tag: 'Shares',
    access: ['server'],
    effect: 'write',
    guide: 'feeds',
    limits: ['batch_size', 'share_slug_length'],
    body_size: MAX_BATCH_BYTES,
    body: z.strictObject({
      /** Up to 200, of any resources of the organization. If one is not valid, none is created. */
      shares: z.array(NewShare).min(1).max(MAX_BATCH),
    }),
    response: ok({
      /** Number of shares that were created. */
      done: z.int(),
      /** Number of shares that were not created; `results` has the reasons. */
      refused: z.int(),
      /** One for each share, in the same order. */
      results: z.array(ShareCreated),
    }),
    invisibleToListeners: true,
    errors: ['unknown_variant'],
  },
})
