import { useState } from 'preact/hooks'

import type { Client, Variant } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { updateAllTracks } from '../../data/reprocess.ts'
import { Button } from '../../ui/controls/button.tsx'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { isDefault } from './variant.ts'
import { VariantForm } from './variant_form.tsx'
import { VariantTable } from './variant_table.tsx'

/** The page Variants: the custom variants and the default variants of every track. */
export function VariantsPage() {
  const client = useClient()
  const { entries, loading, problem, reload } = useList('/v1/variant', ({ variants }) => variants)
  const [editing, setEditing] = useState<Variant | 'new' | null>(null)
  useTitle(t('Variants'))
  const own = entries.filter((variant) => !isDefault(variant))

  async function remove({ id, name }: Variant) {
    const question = {
      title: t('Delete this variant?'),
      text: t('{name} and its files are deleted from all tracks. Players that play only this variant stop working.', {
        name,
      }),
      action: t('Delete variant'),
    }
    if (!(await confirmed(question))) return
    const answer = await client.delete('/v1/variant/{variant_id}', { params: { variant_id: id } })
    announce(answer.ok ? t('{title} deleted', { title: name }) : explain(answer))
    reload()
  }
  return (
    <>
      <Head
        title={t('Variants')}
        note={t('The formats into which every track is converted. No variant is better than its source.')}
      >
        <Button onClick={() => updateAll(client)}>{t('Update all tracks')}</Button>
        <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
          {t('New variant')}
        </Button>
      </Head>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="table" rows={8} />}
      {entries.length > 0 && (
        <>
          <section class="table-group" aria-labelledby="own-title">
            <h2 id="own-title">{t('Your own')}</h2>
            {own.length > 0 ? (
              <VariantTable
                variants={own}
                menuOf={(variant) => [
                  { label: t('Edit …'), onSelect: () => setEditing(variant) },
                  { label: t('Delete variant …'), danger: true, onSelect: () => remove(variant) },
                ]}
              />
            ) : (
              <Empty title={t('None yet')}>
                {t(
                  'Another codec, bitrate or preview, in addition to the default ones. Tracks that are uploaded later get it, and others when their collection is updated.',
                )}
              </Empty>
            )}
          </section>
          <section class="table-group" aria-labelledby="default-title">
            <h2 id="default-title">{t('Default variants')}</h2>
            <VariantTable variants={entries.filter(isDefault)} />
          </section>
        </>
      )}
      {editing && (
        <VariantForm
          variant={editing === 'new' ? null : editing}
          onSaved={(name) => {
            announce(t('{name} saved. Update the tracks to use it.', { name }))
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
  const question = {
    title: t('Update all tracks?'),
    text: t('In every collection, missing and outdated variants are created. The tracks remain playable.'),
    action: t('Update'),
    kind: 'primary',
  } as const
  if (!(await confirmed(question))) return
  const { count, failure } = await updateAllTracks(client)
  const forms = failure
    ? { one: '{n} collection started, then: {reason}', other: '{n} collections started, then: {reason}' }
    : { one: '{n} collection will be updated', other: '{n} collections will be updated' }
  announce(tn(forms, count, { reason: failure ? explain(failure) : '' }))
}
