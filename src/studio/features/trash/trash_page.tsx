import type { TrashedItem } from '../../base/api.ts'
import { date, explain } from '../../base/format.ts'
import { go } from '../../base/route.ts'
import { t, text, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { forgetViews } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { TRASH_DAYS } from './trash.ts'
import { emptyTrash, restoreAll } from './whole_trash.ts'

/** The questions before a permanent deletion. */
const QUESTIONS = {
  track: [text('Delete this track now?'), text('{title} and its files will be deleted permanently.')],
  collection: [
    text('Delete this collection now?'),
    text('{title}, its tracks and all their files will be deleted permanently.'),
  ],
  playlist: [text('Delete this playlist now?'), text('{title} will be deleted permanently.')],
} as const
const KINDS = { track: text('Track'), collection: text('Collection'), playlist: text('Playlist') }

/** The page Trash: deleted items, which can be restored or deleted permanently. */
export function TrashPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useList('/v1/trash', ({ trash }) => trash)
  useTitle(t('Trash'))
  const isEmpty = !loading && !problem && entries.length === 0

  async function restore(item: TrashedItem) {
    const answer = await client.post('/v1/trash/{trash_id}/restore', { params: { trash_id: item.id } })
    if (!answer.ok) {
      announce(explain(answer))
      if (answer.status === 404) reload()
      return
    }
    forgetViews()
    announce(t('{title} restored', { title: item.title }), { label: t('Open'), run: () => go(item.scope, item.id) })
    reload()
  }
  async function all() {
    const { restored, failure } = await restoreAll(client)
    forgetViews()
    announce(failure ? explain(failure) : tn({ one: '{n} item restored', other: '{n} items restored' }, restored))
    reload()
  }
  async function remove(item: TrashedItem) {
    const [title, question] = QUESTIONS[item.scope]
    const wanted = await confirmed({
      title: t(title),
      text: t(question, { title: item.title }),
      action: t('Delete permanently'),
    })
    if (!wanted) return
    const answer = await client.delete('/v1/trash/{trash_id}', { params: { trash_id: item.id } })
    if (!answer.ok && answer.status !== 404) return announce(explain(answer))
    announce(t('{title} deleted permanently', { title: item.title }))
    reload()
  }
  async function empty() {
    if (await emptyTrash(client, count)) reload()
  }
  return (
    <>
      <Head
        title={t('Trash')}
        note={
          count > 0 &&
          tn({ one: '{n} item, kept for {days} days', other: '{n} items, kept for {days} days' }, count, {
            days: TRASH_DAYS,
          })
        }
      >
        {entries.length > 0 && (
          <>
            <Button onClick={all}>{t('Restore all')}</Button>
            <Button onClick={empty}>{t('Empty trash …')}</Button>
          </>
        )}
      </Head>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={4} />}
      {isEmpty && (
        <Empty title={t('Nothing here')}>
          {t('Deleted items can be restored here for {days} days.', { days: TRASH_DAYS })}
        </Empty>
      )}
      <ul class="keys" aria-label={t('Trash')}>
        {entries.map((item) => (
          <Row key={item.id} item={item} restore={restore} remove={remove} />
        ))}
      </ul>
    </>
  )
}

interface RowProperties {
  item: TrashedItem
  restore: (item: TrashedItem) => Promise<void>
  remove: (item: TrashedItem) => Promise<void>
}

function Row({ item, restore, remove }: RowProperties) {
  return (
    <li class="card key">
      <div class="key-text">
        <span class="name">
          {item.title} <span class="badge">{t(KINDS[item.scope])}</span>
        </span>
      </div>
      <div class="key-dates soft">
        <span>{t('Deleted {date}', { date: date(item.trashed_at) })}</span>
        <span>{t('Kept until {date}', { date: date(item.expires_at) })}</span>
      </div>
      <div class="restore">
        <Button label={t('Restore {title}', { title: item.title })} onClick={() => restore(item)}>
          {t('Restore')}
        </Button>
      </div>
      <Menu
        label={t('More for {title}', { title: item.title })}
        items={[{ label: t('Delete permanently …'), danger: true, onSelect: () => remove(item) }]}
      />
    </li>
  )
}
