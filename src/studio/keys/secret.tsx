import { useLayoutEffect, useRef } from 'preact/hooks'

import type { ApiKey } from '../api.ts'
import { elementCode } from '../sharing/snippets.ts'
import { t, text } from '../text.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copyable.tsx'

/** The question before a dialog with a secret closes. */
export const LOSES_SECRET = {
  title: text('Have you kept the secret?'),
  text: text('It cannot be shown again.'),
  action: text('Close'),
  cancel: text('Back to the secret'),
}

interface Properties {
  secret: string
  /** The key of the secret; undefined for the secret of a webhook. */
  api_key?: ApiKey | undefined
  onClose: () => void
}

/** Shows a new secret, and code that uses it. */
export function Secret({ secret, api_key, onClose }: Properties) {
  // The button that created the secret is gone, and with it the focus. The focus moves before the paint, so that no key press reaches another button.
  const message = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => message.current?.focus(), [])
  const code = api_key && codeOf(secret, api_key)
  return (
    <>
      <p role="status" tabIndex={-1} ref={message}>
        {t('This is the only time that the secret is shown. Store it in a safe place.')}
      </p>
      <Copyable label={t('Secret')} value={secret} />
      {code && <Copyable label={t('For your page')} value={code} />}
      <div class="actions end">
        <Button kind="primary" onClick={onClose}>
          {t('Done')}
        </Button>
      </div>
    </>
  )
}

/** Returns the HTML for a page that uses the key; null if the key is not bound to one resource. */
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
