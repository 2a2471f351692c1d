import type { ComponentChildren } from 'preact'

import { DAY } from '../../../contract/time.ts'
import type { ShareLink } from '../../base/api.ts'
import { bytes, date, explain, listText, number } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { failureText, t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { nameOf, remedyFor } from '../../data/track_text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { Icon } from '../../ui/controls/icon.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Problem } from '../../ui/page/states.tsx'
import { useTrackActions } from '../track_table/track_actions.ts'
import { healthOf } from '../webhooks/webhook.ts'
import { endingShares, isNear, keyQuotas, unusedKeys, unwellWebhooks } from './attention.ts'
import { type Attention, type FailedTrack, type Link, readAttention } from './overview_data.ts'

/** Number of links that are shown, and the days by which the button extends one. */
const LINKS = 5
const EXTENSION = 30

interface Properties {
  /** The storage limit of the organization. */
  quota: { used_bytes: number; max_bytes: number | null } | undefined
}

/** The things that need attention, one line each: quotas, webhooks, failed tracks, links that end soon, and unused keys. */
export function AttentionList({ quota }: Properties) {
  const client = useClient()
  const { answer, problem, reload } = useQuery({ key: ['attention'], load: () => readAttention(client) })
  if (problem) return <Problem failure={problem} retry={reload} />
  if (!answer) return <div class="attention-wait" role="status" aria-busy="true" aria-label={t('Loading …')} />
  const { failed_count, links, link_count, keys, key_count } = answer
  const rows = rowsOf(answer, quota, () => void reload())
  const isAll = link_count <= links.length && key_count <= keys.length
  const note = !isAll && (
    <p class="attention-note soft">
      {t('Only the newest links and keys were checked, {n} of each.', { n: links.length })}
    </p>
  )
  if (rows.length === 0) {
    return (
      <section class="attention-none soft" aria-label={t('Needs attention')}>
        <Icon name="check" />
        <p>{t('Nothing needs your attention.')}</p>
        {note}
      </section>
    )
  }
  return (
    <section aria-labelledby="attention-title">
      <Fold
        kind="attention-box"
        isOpen
        title={
          <>
            <Icon name="warning" />
            <h2 id="attention-title">{t('Needs attention')}</h2>
            <span class="attention-count">{number(rows.length + Math.max(0, failed_count - 1))}</span>
          </>
        }
      >
        <ul class="attention">{rows}</ul>
        {note}
      </Fold>
    </section>
  )
}

/** Returns the lines about everything that needs attention. */
function rowsOf(attention: Attention, quota: Properties['quota'], onChange: () => void) {
  const { failed_count, webhooks, links, keys, events } = attention
  const now = Date.now()
  const ending = endingShares(links, now)
  const unused = unusedKeys(keys, now)
  return [
    quota && isNear(quota.used_bytes, quota.max_bytes) && (
      <Row key="quota" title={t('Storage limit')} action={<Go page="usage" label={t('Show the usage')} />}>
        {t('{used} of {limit} are used.', { used: bytes(quota.used_bytes), limit: bytes(quota.max_bytes!) })}
      </Row>
    ),
    ...keyQuotas(events).map(({ id, title, type }) => (
      <Row key={id} title={title ?? t('A key')} action={<Go page="keys" label={t('Show the keys')} />}>
        {type === 'quota.reached'
          ? t('The daily limit of this key is used up.')
          : t('80 % of the daily limit of this key is used.')}
      </Row>
    )),
    ...unwellWebhooks(webhooks).map((webhook) => (
      <Row
        key={webhook.id}
        title={webhook.title}
        action={<Go page="webhook" id={webhook.id} label={t('Open the webhook')} />}
      >
        {t('Webhook: {state}', { state: healthOf(webhook) })}
      </Row>
    )),
    failed_count > 0 && <Failed key="failed" {...attention} onChange={onChange} />,
    ...ending.slice(0, LINKS).map((link) => <LinkRow key={link.id} link={link} onChange={onChange} />),
    ending.length > LINKS && (
      <Row
        key="links"
        title={tn({ one: '{n} more link ends', other: '{n} more links end' }, ending.length - LINKS)}
        action={<Go page="shares" label={t('Show all')} />}
      />
    ),
    unused.length > 0 && (
      <Row
        key="keys"
        title={tn({ one: '{n} unused key', other: '{n} unused keys' }, unused.length)}
        action={<Go page="keys" label={t('Show the keys')} />}
      >
        {t('Not used for 90 days: {keys}', {
          keys: listText(unused.slice(0, LINKS).map(({ title }) => title)),
        })}
      </Row>
    ),
  ].filter(Boolean)
}

type FailedProperties = Pick<Attention, 'failed' | 'failed_count'> & { onChange: () => void }

/** The failed tracks: one as a line, and several as a line that opens. */
function Failed({ failed, failed_count, onChange }: FailedProperties) {
  const rows = failed.map((track) => <FailedRow key={track.id} track={track} onChange={onChange} />)
  if (failed_count === 1) return <>{rows}</>
  return (
    <li class="attention-group">
      <Fold
        title={<span class="name">{tn({ one: '{n} track failed', other: '{n} tracks failed' }, failed_count)}</span>}
      >
        <ul>
          {rows}
          {failed_count > failed.length && (
            <Row
              title={tn(
                { one: '{n} more failed track', other: '{n} more failed tracks' },
                failed_count - failed.length,
              )}
              action={
                <a class="button small" href={href('library', 'tracks', '', { status: 'failed' })}>
                  {t('Show all')}
                </a>
              }
            />
          )}
        </ul>
      </Fold>
    </li>
  )
}

interface RowProperties {
  title: ComponentChildren
  action: ComponentChildren
  children?: ComponentChildren
  picture?: string | undefined
}

const Row = ({ title, action, children, picture }: RowProperties) => (
  <li>
    {picture && <img src={picture} alt="" width="28" height="28" loading="lazy" />}
    <div class="attention-text">
      <bdi class="name">{title}</bdi>
      {children && <span class="soft">{children}</span>}
    </div>
    <div class="actions">{action}</div>
  </li>
)

const Go = ({ page, id = '', label }: { page: string; id?: string; label: string }) => (
  <a class="button small" href={href(page, id)}>
    {label}
  </a>
)

function FailedRow({ track, onChange }: { track: FailedTrack; onChange: () => void }) {
  const { reprocess, replace } = useTrackActions({ onChange, onDelete: onChange, onRestore: onChange })
  const { error = null } = track.state ?? {}
  const remedy = remedyFor(error ? { error } : {})
  const name = nameOf(track)
  return (
    <Row
      title={<a href={href('track', track.id)}>{name}</a>}
      picture={track.artwork?.icon.url}
      action={
        remedy === 'retry' ? (
          <Button small label={t('Try again: {name}', { name })} onClick={() => reprocess(track)}>
            {t('Try again')}
          </Button>
        ) : remedy === 'send' ? (
          <Button small label={t('Choose the file: {name}', { name })} onClick={() => replace(track)}>
            {t('Choose the file')}
          </Button>
        ) : (
          <Button small label={t('Replace file: {name}', { name })} onClick={() => replace(track)}>
            {t('Replace file')}
          </Button>
        )
      }
    >
      {[error ? failureText(error) : t('Some files of this track could not be made.'), track.collection?.title]
        .filter(Boolean)
        .join(' · ')}
    </Row>
  )
}

function LinkRow({ link, onChange }: { link: Link; onChange: () => void }) {
  const client = useClient()
  const title = link.title ?? link.resource?.title ?? `/s/${link.slug}`
  async function setEnd(expires_at: string | null) {
    const answer = await client.put('/v1/share/{share_id}', { params: { share_id: link.id }, body: { expires_at } })
    if (!answer.ok) announce(explain(answer))
    onChange()
    return answer.ok
  }
  async function extend({ expires_at }: Pick<ShareLink, 'expires_at'>) {
    const end = new Date(Date.parse(expires_at!) + EXTENSION * DAY).toISOString()
    if (!(await setEnd(end))) return
    announce(t('The link of {title} ends on {date}', { title, date: date(end) }), {
      label: t('Undo'),
      run: () => setEnd(expires_at),
    })
  }
  return (
    <Row
      title={
        <a href={link.url} target="_blank" rel="noopener">
          {title}
        </a>
      }
      action={
        <Button small label={t('Extend by 30 days: {title}', { title })} onClick={() => extend(link)}>
          {t('Extend by 30 days')}
        </Button>
      }
    >
      {t('This link ends on {date}.', { date: date(link.expires_at!) })}
    </Row>
  )
}
