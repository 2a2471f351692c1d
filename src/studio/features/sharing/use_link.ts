import { useState } from 'preact/hooks'

import type { ShareLink } from '../../base/api.ts'
import { faultsOf } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { invalidate } from '../../data/query.ts'
import { announce } from '../../ui/page/announce.ts'
import { feedDraft } from './feed.ts'
import { changesOf, type Draft, draftOf, hasEnded, type LinkFaults } from './link.ts'
import type { Shared } from './open_share.ts'

const FEED_FIELDS = Object.keys(feedDraft(null)).map((field) => `feed_${field}`)
const FIELDS = ['password', 'expires_at', 'allowed_origins', 'text', 'links', 'slug', 'title', 'feed', ...FEED_FIELDS]

/** The links of the resource, and the one that the dialog edits: an existing link, or one that is created when it is first used. */
export function useLink({ scope, id, share_id }: Shared) {
  const client = useClient()
  const list = useList('/v1/share', (page) => page.shares, { query: { resource_id: id } })
  const { loading, problem, set, reload } = list
  // A link is hidden before the list is read again.
  const [revoked, setRevoked] = useState<readonly string[]>([])
  const entries = list.entries.filter((one) => !revoked.includes(one.id))
  const [chosen, setChosen] = useState(share_id)
  const [edited, setEdited] = useState<Draft | null>(null)
  const [faults, setFaults] = useState<LinkFaults>({})
  const isNew = chosen === NEW
  const link = isNew ? undefined : (entries.find((one) => one.id === chosen) ?? entries.find((one) => !hasEnded(one)))
  const draft = edited ?? draftOf(link)
  const checked = edited ? changesOf(edited, link) : { changes: {}, faults: {} }
  const changed = [...Object.keys(checked.changes), ...Object.keys(checked.faults)]
  const isChanged = changed.length > 0

  function choose(other: string | undefined) {
    setChosen(other)
    setEdited(null)
    setFaults({})
  }
  /** Creates the link, or saves its changes. Resolves to the link, or to null if a setting is not valid. */
  async function save(): Promise<ShareLink | null> {
    setFaults(checked.faults)
    if (Object.keys(checked.faults).length > 0) return null
    if (link && !isChanged) return link
    const answer = link
      ? await client.put('/v1/share/{share_id}', { params: { share_id: link.id }, body: checked.changes })
      : await client.post('/v1/share', { body: { scope, id, ...checked.changes } })
    if (!answer.ok) {
      const isTaken = answer.code === 'slug_taken'
      // The errors of the feed have paths such as `feed.email`.
      const errors = answer.errors?.map((error) => ({ ...error, path: error.path.replace(/^feed\./, 'feed_') }))
      const failure = { ...answer, ...(errors && { errors }) }
      setFaults(isTaken ? { slug: t('This address is taken.') } : faultsOf(failure, FIELDS))
      return null
    }
    const saved = { ...link, ...answer.share }
    set(link ? entries.map((one) => (one.id === saved.id ? saved : one)) : [saved, ...entries])
    choose(saved.id)
    invalidate('/v1/share')
    announce(link ? t('The link has changed.') : t('Link created'))
    return saved
  }
  return {
    entries,
    loading,
    problem,
    reload,
    link,
    draft,
    faults,
    /** The fields of the API that differ from the link. */
    changed,
    isChanged,
    isNew,
    choose,
    save,
    edit: (changes: Partial<Draft>) => setEdited({ ...draft, ...changes }),
    drop: (dropped: ShareLink) => setRevoked((before) => [...before, dropped.id]),
  }
}
export type EditedLink = ReturnType<typeof useLink>

/** Stands for a link that does not exist yet. */
export const NEW = 'new'
