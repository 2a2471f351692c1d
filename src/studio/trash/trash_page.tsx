import type { TrashedItem } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { forgetViews } from '../data/views.ts'
import { date, explain, plural } from '../format.ts'
import { KEPT_FOR } from '../library/trash.ts'
import { go } from '../route.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'

/** The rest of the question before a permanent deletion, by the kind of the item. */
const WITH = { track: ' and its files', collection: ', its tracks and all their files', playlist: '' }

/** The page Trash: deleted items, which can be restored or deleted permanently. */
export function TrashPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useList('/v1/trash', ({ trash }) => trash)
  useTitle('Trash')
  const isEmpty = !loading && !problem && entries.length === 0

  async function restore(item: TrashedItem) {
    const answer = await client.post('/v1/trash/{trash_id}/restore', { params: { trash_id: item.id } })
    if (!answer.ok) {
      announce(explain(answer))
      if (answer.status === 404) reload()
      return
    }
    forgetViews()
    announce(`${item.title} restored`)
    go(item.scope, item.id)
  }
  async function remove(item: TrashedItem) {
    const text = `${item.title}${WITH[item.scope]} will be deleted permanently.`
    if (!(await confirmed({ title: `Delete this ${item.scope} now?`, text, action: 'Delete permanently' }))) return
    const answer = await client.delete('/v1/trash/{trash_id}', { params: { trash_id: item.id } })
    if (!answer.ok && answer.status !== 404) return announce(explain(answer))
    announce(`${item.title} deleted permanently`)
    reload()
  }
  async function empty() {
    const text = `${plural(count, 'item')} will be deleted permanently.`
    if (!(await confirmed({ title: 'Empty the trash?', text, action: 'Empty trash' }))) return
    let answer
    do answer = await client.delete('/v1/trash')
    while (answer.ok && answer.left > 0 && answer.deleted > 0)
    if (!answer.ok) announce(explain(answer))
    else announce(answer.left === 0 ? 'The trash is empty' : `${plural(answer.left, 'item')} could not be deleted`)
    reload()
  }
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Trash</h1>
          {count > 0 && (
            <p class="soft">
              {plural(count, 'item')}, kept for {KEPT_FOR}
            </p>
          )}
        </div>
        {entries.length > 0 && <Button onClick={empty}>Empty trash …</Button>}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={4} />}
      {isEmpty && <Empty title="Nothing here">Deleted items can be restored here for {KEPT_FOR}.</Empty>}
      <ul class="keys" aria-label="Trash">
        {entries.map((item) => (
          <li key={item.id} class="card key">
            <div class="key-text">
              <span class="name">
                {item.title} <span class="badge">{item.scope}</span>
              </span>
            </div>
            <div class="key-dates soft">
              <span>Deleted {date(item.trashed_at)}</span>
              <span>Kept until {date(item.expires_at)}</span>
            </div>
            <div class="restore">
              <Button label={`Restore ${item.title}`} onClick={() => restore(item)}>
                Restore
              </Button>
            </div>
            <Menu
              label={`More for ${item.title}`}
              items={[{ label: 'Delete permanently …', danger: true, onSelect: () => remove(item) }]}
            />
          </li>
        ))}
      </ul>
    </>
  )
}
