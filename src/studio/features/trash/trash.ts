import { TRASH_TTL } from '../../../contract/facts.ts'
import type { Client } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { go } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { invalidate } from '../../data/query.ts'
import { endUploads, uploadsTo } from '../../data/uploads.ts'
import { forgetViews } from '../../data/views.ts'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'

/** The query with which the studio deletes, so that everything can be restored. */
export const TO_TRASH = { trash: 'true' } as const

/** Days for which deleted items can be restored. */
export const TRASH_DAYS = TRASH_TTL / 86_400

interface Item {
  id: string
  title: string
}

/** Deletes a collection or a playlist, shows the page that listed it, and offers Undo. Asks first only if uploads would end, which cannot be undone. */
export async function removeList(client: Client, kind: 'collection' | 'playlist', { id, title }: Item): Promise<void> {
  const uploads = uploadsTo(id).length
  if (uploads > 0) {
    const text = tn({ one: '{n} upload into it ends.', other: '{n} uploads into it end.' }, uploads)
    const question = { title: t('Delete {title}?', { title }), text, action: t('Delete collection') }
    if (!(await confirmed(question))) return
  }
  const answer =
    kind === 'collection'
      ? await client.delete('/v1/collection/{collection_id}', { params: { collection_id: id }, query: TO_TRASH })
      : await client.delete('/v1/playlist/{playlist_id}', { params: { playlist_id: id }, query: TO_TRASH })
  if (!answer.ok) return announce(explain(answer))
  endUploads(id)
  // The lists may have been read before.
  for (const list of [['shelf', kind], ['/v1/trash']]) invalidate(...list)
  go(kind === 'collection' ? 'library' : 'playlists')
  announce(t('{title} deleted', { title }), {
    label: t('Undo'),
    run: () => restore(client, kind, { id, title }),
  })
}

/** Restores a collection or a playlist, and shows it. */
async function restore(client: Client, kind: 'collection' | 'playlist', { id, title }: Item): Promise<void> {
  const answer = await client.post('/v1/trash/{trash_id}/restore', { params: { trash_id: id } })
  if (!answer.ok) return announce(explain(answer))
  forgetViews()
  for (const list of [['shelf', kind], ['/v1/trash']]) invalidate(...list)
  announce(t('{title} restored', { title }))
  go(kind, id)
}
