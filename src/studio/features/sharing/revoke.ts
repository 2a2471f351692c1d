import { SHARE_SESSION_TTL } from '../../../contract/facts.ts'
import type { Client, ShareLink } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { invalidate } from '../../data/query.ts'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'

/** Revokes a link if the user confirms. Resolves to whether it is revoked. */
export async function revoke(client: Client, { id, url }: ShareLink): Promise<boolean> {
  const text = t('{url} will no longer show anything, and cannot be restored. Playback ends within {n} minutes.', {
    url,
    n: SHARE_SESSION_TTL / 60,
  })
  if (!(await confirmed({ title: t('Revoke this link?'), text, action: t('Revoke link') }))) return false
  const answer = await client.delete('/v1/share/{share_id}', { params: { share_id: id } })
  if (!answer.ok && answer.status !== 404) {
    announce(explain(answer))
    return false
  }
  announce(t('Link revoked'))
  invalidate('/v1/share')
  return true
}
