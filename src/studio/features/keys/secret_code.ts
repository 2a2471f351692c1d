import type { ApiKey } from '../../base/api.ts'
import { text } from '../../base/text.ts'
import { elementCode } from '../sharing/snippets.ts'

/** Stands for the id of a resource if the key is bound to none. */
const ANY = 'COLLECTION_ID'

type Key = Pick<ApiKey, 'type' | 'collection_id' | 'track_id' | 'playlist_id'>

/** Returns code that uses a key, and its English label: HTML for a page, or a request for a server. */
export function keyCode(origin: string, secret: string, { type, collection_id, track_id, playlist_id }: Key) {
  if (type === 'server')
    return {
      label: text('For your server'),
      code: `curl -H 'Authorization: Bearer ${secret}' ${origin}/v1/collection`,
    }
  const [scope, id] = Object.entries({ collection: collection_id, track: track_id, playlist: playlist_id }).find(
    ([, id]) => id,
  ) ?? ['collection', ANY]
  if (type === 'signing')
    return {
      label: text('For your server'),
      code: `import { signPlaySession } from '@tonearm/client/sign'

const token = await signPlaySession('${secret}', { scope: '${scope}', id: '${id}' })`,
    }
  const values: Record<string, string> =
    type === 'player' ? { scope, 'resource-id': id ?? ANY } : { 'collection-id': collection_id ?? ANY }
  return { label: text('For your page'), code: elementCode(origin, type, { 'api-key': secret, ...values }) }
}

/** Returns code that verifies the requests of a webhook, and its English label. */
export const webhookCode = (secret: string) => ({
  label: text('For your server'),
  code: `import { verifyWebhook } from '@tonearm/client'

const webhook = await verifyWebhook({
  body: await request.text(),
  headers: request.headers,
  secret: '${secret}',
})`,
})
