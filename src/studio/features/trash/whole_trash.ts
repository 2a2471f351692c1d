import { MAX_PAGE } from '../../../contract/facts.ts'
import type { Client, Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'

interface Restored {
  restored: number
  /** The last failure; null if everything was restored. */
  failure: Failure | null
}

/** Restores everything in the trash. Collections are restored first, because the tracks of a trashed collection cannot be restored alone. */
export async function restoreAll(client: Client): Promise<Restored> {
  let restored = 0
  let failure: Failure | null = null
  // An item that cannot be restored stays in the list, so the next page starts behind those.
  for (let offset = 0; ;) {
    const page = await client.get('/v1/trash', { query: { limit: MAX_PAGE, offset } })
    if (!page.ok) return { restored, failure: page }
    for (const { id } of page.trash.toSorted((a, b) => Number(b.scope !== 'track') - Number(a.scope !== 'track'))) {
      const answer = await client.post('/v1/trash/{trash_id}/restore', { params: { trash_id: id } })
      if (answer.ok) restored++
      else if (answer.status !== 404) {
        failure = answer
        offset++
        if (answer.status === 0 || answer.status === 401) return { restored, failure }
      }
    }
    if (page.trash.length < MAX_PAGE) return { restored, failure }
  }
}

/** Deletes everything in the trash permanently, if the user confirms. Resolves to whether requests were sent. */
export async function emptyTrash(client: Client, count: number): Promise<boolean> {
  const question = tn(
    { one: '{n} item will be deleted permanently.', other: '{n} items will be deleted permanently.' },
    count,
  )
  if (!(await confirmed({ title: t('Empty the trash?'), text: question, action: t('Empty trash') }))) return false
  let answer
  do answer = await client.delete('/v1/trash')
  while (answer.ok && answer.left > 0 && answer.deleted > 0)
  if (!answer.ok) announce(explain(answer))
  else if (answer.left === 0) announce(t('The trash is empty'))
  else announce(tn({ one: '{n} item could not be deleted', other: '{n} items could not be deleted' }, answer.left))
  return true
}
