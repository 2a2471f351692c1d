import { useLayoutEffect, useRef } from 'preact/hooks'

import type { ApiKey } from '../api.ts'
import { Button } from './button.tsx'
import { Copyable } from './copyable.tsx'
import { elementCode } from './snippets.ts'

/** What a dialog asks that would take a secret away. */
export const LOSES_SECRET = {
  title: 'Have you kept the secret?',
  text: 'It cannot be shown again.',
  action: 'Close',
  cancel: 'Back to the secret',
}

/** A secret, this one time, and what to do with it. */
export function Secret({ secret, api_key, onClose }: { secret: string; api_key: ApiKey; onClose: () => void }) {
  const { type, collection_id, track_id, playlist_id } = api_key
  // The button that made it is gone, and the focus with it. At once, so that a key pressed now meets no other button.
  const told = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => told.current?.focus(), [])
  const bound = Object.entries({ collection: collection_id, track: track_id, playlist: playlist_id }).find(
    ([, id]) => id,
  )
  const code =
    type === 'player' && bound
      ? elementCode(location.origin, 'player', { 'api-key': secret, scope: bound[0], 'resource-id': bound[1] ?? '' })
      : type === 'uploader' && collection_id
        ? elementCode(location.origin, 'uploader', { 'api-key': secret, 'collection-id': collection_id })
        : null
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
