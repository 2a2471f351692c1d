import { useState } from 'preact/hooks'

import { MAX_PASSWORD, MAX_SLUG, MIN_PASSWORD, SHARE_SESSION_TTL } from '../../contract/facts.ts'
import type { PlayScope, ShareLink } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { dateTime, explain, type Faults, faultsOf } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copyable.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Check, SelectField, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Message, NotRenewed } from '../ui/states.tsx'
import { iframeCode } from './snippets.ts'

/** Days until a link expires; an empty value for never. */
const ENDS = [
  ['', 'Never'],
  ['7', 'After a week'],
  ['30', 'After 30 days'],
  ['365', 'After a year'],
] as const
const DAY = 24 * 3600 * 1000

interface Properties {
  scope: PlayScope
  id: string
  title: string
}

/** Creates permanent links, and lists those that exist. */
export function ShareLinks({ scope, id, title }: Properties) {
  const list = useList('/v1/share', (page) => page.shares, { query: { resource_id: id } })
  return (
    <section class="card lasting" aria-labelledby="shares-title">
      <h2 id="shares-title">Permanent link</h2>
      <p class="soft">
        A page with {title} for everyone who has its address, and a frame for other sites, until you revoke the link.
      </p>
      <NewShare scope={scope} id={id} onMade={list.reload} />
      <NotRenewed {...list} />
      {list.entries.length > 0 && (
        <ul class="shares" aria-label="Links">
          {list.entries.map((share) => (
            <ShareItem key={share.id} share={share} title={share.title ?? title} onRevoked={list.reload} />
          ))}
        </ul>
      )}
    </section>
  )
}

function NewShare({ scope, id, onMade }: Omit<Properties, 'title'> & { onMade: () => void }) {
  const client = useClient()
  const [slug, setSlug] = useState('')
  const [password, setPassword] = useState('')
  const [days, setDays] = useState('')
  const [downloadable, setDownloadable] = useState(false)
  const [faults, setFaults] = useState<Faults>({})

  async function create() {
    const body = {
      scope,
      id,
      is_downloadable: downloadable,
      ...(slug.trim() && { slug: slug.trim() }),
      ...(password && { password }),
      ...(days && { expires_at: new Date(Date.now() + Number(days) * DAY).toISOString() }),
    }
    const answer = await client.post('/v1/share', { body })
    if (!answer.ok && answer.code === 'slug_taken') return setFaults({ slug: 'This address is taken.' })
    setFaults(answer.ok ? {} : faultsOf(answer, ['slug', 'password']))
    if (!answer.ok) return
    setSlug('')
    setPassword('')
    announce('Link created')
    onMade()
  }
  return (
    <Form onSubmit={create}>
      <TextField
        label="Address"
        value={slug}
        onInput={setSlug}
        error={faults.slug}
        maxLength={MAX_SLUG}
        placeholder="our-new-record"
        hint="Empty: a random address."
      />
      <TextField
        label="Password"
        value={password}
        onInput={setPassword}
        error={faults.password}
        maxLength={MAX_PASSWORD}
        hint={`At least ${MIN_PASSWORD} characters. Empty: none.`}
      />
      <SelectField label="Link ends" value={days} options={ENDS} onChange={setDays} />
      <Check label="Visitors may download" checked={downloadable} onChange={setDownloadable} />
      <div class="actions">
        <Button type="submit" kind="primary">
          Create link
        </Button>
      </div>
      <Message>{faults.other}</Message>
    </Form>
  )
}

/** A link with its QR code and its frame. */
function ShareItem({ share, title, onRevoked }: { share: ShareLink; title: string; onRevoked: () => void }) {
  const client = useClient()
  const { id: share_id, slug, url, embed_url, scope } = share
  const isFramed = !share.has_password || share.allowed_origins !== null

  async function revoke() {
    const text = `${url} will no longer show anything. Playback ends within ${SHARE_SESSION_TTL / 60} minutes.`
    if (!(await confirmed({ title: 'Revoke this link?', text, action: 'Revoke link' }))) return
    const answer = await client.delete('/v1/share/{share_id}', { params: { share_id } })
    if (!answer.ok && answer.status !== 404) return announce(explain(answer))
    announce('Link revoked')
    onRevoked()
  }
  return (
    <li>
      <Copyable label={`Link /s/${slug}`} value={url} />
      <p class="soft">{noteOf(share)}</p>
      <details>
        <summary>QR code and frame</summary>
        <img src={`/s/${slug}/qr.svg`} width={180} height={180} loading="lazy" alt={`QR code of ${url}`} />
        {isFramed ? (
          <Copyable label={`Frame /s/${slug}`} value={iframeCode(embed_url, title, scope, 0)} />
        ) : (
          <p class="soft">
            This link has a password, so other sites cannot show it in a frame. Set <code>allowed_origins</code> to
            allow them.
          </p>
        )}
      </details>
      <div class="actions">
        {!hasEnded(share) && (
          <a class="button small" href={url} target="_blank" rel="noopener">
            Open
          </a>
        )}
        <Button small kind="danger" label={`Revoke /s/${slug}`} onClick={revoke}>
          Revoke …
        </Button>
      </div>
    </li>
  )
}

const hasEnded = ({ expires_at }: ShareLink) => expires_at !== null && Date.parse(expires_at) <= Date.now()

const noteOf = (share: ShareLink) =>
  [
    `Since ${dateTime(share.created_at)}`,
    share.expires_at && `${hasEnded(share) ? 'ended' : 'ends'} ${dateTime(share.expires_at)}`,
    share.has_password && 'asks for a password',
    share.is_downloadable && 'may be downloaded',
  ]
    .filter(Boolean)
    .join(' · ')
