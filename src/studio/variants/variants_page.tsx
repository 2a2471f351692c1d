import { useState } from 'preact/hooks'

import type { Client, Variant } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { useOrganization } from '../data/organization.ts'
import { updateAllTracks } from '../data/reprocess.ts'
import { forgetViews } from '../data/views.ts'
import { explain, plural } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { isDefault } from './variant.ts'
import { VariantForm } from './variant_form.tsx'
import { VariantTable } from './variant_table.tsx'

/** The page Variants: the custom variants and the default variants of every track. */
export function VariantsPage() {
  const client = useClient()
  const { entries, loading, problem, reload } = useList('/v1/variant', ({ variants }) => variants)
  const [editing, setEditing] = useState<Variant | 'new' | null>(null)
  useTitle('Variants')
  const own = entries.filter((variant) => !isDefault(variant))

  async function remove({ id, name }: Variant) {
    const text = `${name} and its files are deleted from all tracks. Players that play only this variant stop working.`
    if (!(await confirmed({ title: 'Delete this variant?', text, action: 'Delete variant' }))) return
    const answer = await client.delete('/v1/variant/{variant_id}', { params: { variant_id: id } })
    announce(answer.ok ? `${name} deleted` : explain(answer))
    reload()
  }
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Variants</h1>
          <p class="soft">The formats into which every track is converted. No variant is better than its source.</p>
        </div>
        <div class="actions">
          <Button onClick={() => updateAll(client)}>Update all tracks</Button>
          <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
            New variant
          </Button>
        </div>
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={6} />}
      {entries.length > 0 && (
        <>
          <section class="table-group" aria-labelledby="own-title">
            <h2 id="own-title">Your own</h2>
            {own.length > 0 ? (
              <VariantTable
                variants={own}
                menuOf={(variant) => [
                  { label: 'Edit …', onSelect: () => setEditing(variant) },
                  { label: 'Delete variant …', danger: true, onSelect: () => remove(variant) },
                ]}
              />
            ) : (
              <Empty title="None yet">
                Another codec, bitrate or preview, in addition to the default ones. Tracks that are uploaded later get
                it, and others when their collection is updated.
              </Empty>
            )}
          </section>
          <section class="table-group" aria-labelledby="default-title">
            <h2 id="default-title">Default variants</h2>
            <VariantTable variants={entries.filter(isDefault)} />
          </section>
        </>
      )}
      <TagsSetting />
      {editing && (
        <VariantForm
          variant={editing === 'new' ? null : editing}
          onSaved={(name) => {
            announce(`${name} saved. Update the tracks to use it.`)
            setEditing(null)
            reload()
          }}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  )
}

async function updateAll(client: Client): Promise<void> {
  const title = 'Update all tracks?'
  const text = 'In every collection, missing and outdated variants are created. The tracks remain playable.'
  if (!(await confirmed({ title, text, action: 'Update', kind: 'primary' }))) return
  const { count, failure } = await updateAllTracks(client)
  const started = plural(count, 'collection')
  announce(failure ? `${started} started, then: ${explain(failure)}` : `${started} will be updated`)
}

/** The setting whether the organization uses the tags of files. */
function TagsSetting() {
  const client = useClient()
  const { answer: current, set } = useOrganization()
  async function setUsesTags(uses_tags: boolean) {
    if (!current) return
    const { organization } = current
    set({ ...current, organization: { ...organization, uses_tags } })
    const params = { organization_id: organization.id }
    const answer = await client.put('/v1/organization/{organization_id}', { params, body: { uses_tags } })
    set(answer.ok ? answer : current)
    if (!answer.ok) return announce(explain(answer))
    forgetViews()
    announce(uses_tags ? 'Tags are now used' : 'Tags are no longer used')
  }
  if (!current) return null
  return (
    <section class="table-group" aria-labelledby="tags-title">
      <h2 id="tags-title">Tags of files</h2>
      <Check
        label="Use title, artist, track order and cover from a file's tags where none is set"
        checked={current.organization.uses_tags}
        onChange={(uses_tags) => void setUsesTags(uses_tags)}
      />
    </section>
  )
}
