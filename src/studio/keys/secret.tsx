import { useLayoutEffect, useRef } from 'preact/hooks'

import type { ApiKey } from '../api.ts'
import { elementCode } from '../sharing/snippets.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copyable.tsx'

/** What a dialog asks that would take a secret away. */
export const LOSES_SECRET = {
  title: 'Have you kept the secret?',
  text: 'It cannot be shown again.',
  action: 'Close',
  cancel: 'Back to the secret',
}

interface Properties {
  secret: string
  /** Of a key; a webhook's secret has none. */
  api_key?: ApiKey | undefined
  onClose: () => void
}

/** A secret, this one time, and what to do with it. */
export function Secret({ secret, api_key, onClose }: Properties) {
  // The button that made it is gone, and the focus with it. At once, so that a key pressed now meets no other button.
  const told = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => told.current?.focus(), [])
  const code = api_key && codeOf(secret, api_key)
  return (
    <>
      <p role="status" tabIndex={-1} ref={told}>
        This is the only time that the secret is shown. Keep it where you need it.
      </p>
      <Copyable label="Secret" value={secret} />
      {code && <Copyable label="For your page" value={code} />}
      <div class="actions end">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </>
  )
}

/** What a page needs that uses a key; null where it opens no one thing. */
function codeOf(secret: string, { type, collection_id, track_id, playlist_id }: ApiKey): string | null {
  const bound = Object.entries({ collection: collection_id, track: track_id, playlist: playlist_id }).find(
    ([, id]) => id,
  )
  if (type === 'player' && bound)
    return elementCode(location.origin, 'player', { 'api-key': secret, scope: bound[0], 'resource-id': bound[1] ?? '' })
  if (type === 'uploader' && collection_id)
    return elementCode(location.origin, 'uploader', { 'api-key': secret, 'collection-id': collection_id })
  return null
}
