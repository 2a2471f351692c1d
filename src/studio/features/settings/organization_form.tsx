import { useState } from 'preact/hooks'

import { DEFAULT_COLOR } from '../../../contract/facts.ts'
import type { Organization } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useOrganization } from '../../data/organization.ts'
import { sendVersioned } from '../../data/versions.ts'
import { forgetViews } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ColorField, ThemeField } from '../../ui/controls/color_field.tsx'
import { Check, TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { Conflict } from '../../ui/edit/conflict.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Loading, Message, Problem } from '../../ui/page/states.tsx'

const FIELDS = [
  'name',
  'player_subtitle',
  'player_color',
  'theme',
  'is_theme_overridable',
  'is_cover_overridable',
  'uses_tags',
] as const
type Values = Pick<Organization, (typeof FIELDS)[number]>

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The settings of the organization. Those of a collection or a track replace them. */
export function OrganizationForm() {
  const { answer, problem, reload } = useOrganization()
  if (problem && !answer) return <Problem failure={problem} retry={reload} />
  if (!answer) return <Loading kind="fields" rows={4} />
  return <Fields key={answer.organization.id} organization={answer.organization} />
}

/** The changes of the form, and how they are saved or discarded. */
function useChanges(organization: Organization) {
  const client = useClient()
  const { set } = useOrganization()
  const [changes, setChanges] = useState<Partial<Values>>({})
  const [faults, setFaults] = useState<Faults>({})
  const [isConflict, setConflict] = useState(false)
  const values: Values = { ...organization, ...changes }
  const changed = FIELDS.filter((name) => name in changes && !isEqual(changes[name], organization[name]))
  const change = (more: Partial<Values>) => setChanges((before) => ({ ...before, ...more }))

  function discard() {
    setChanges({})
    setConflict(false)
  }
  async function save() {
    const { name, player_subtitle, player_color, ...rest } = values
    const all = {
      ...rest,
      name: name.trim(),
      player_subtitle: player_subtitle.trim() || null,
      player_color: player_color === DEFAULT_COLOR ? null : player_color,
    }
    const body = Object.fromEntries(changed.map((field) => [field, all[field]]))
    const params = { organization_id: organization.id }
    const answer = await sendVersioned(
      organization,
      body,
      (headers) => client.put('/v1/organization/{organization_id}', { params, headers, body }),
      (current) => set({ ok: true, organization: current }),
    )
    const isRefused = !answer.ok && answer.code !== 'version_mismatch'
    setFaults(isRefused ? faultsOf(answer, ['name', 'player_subtitle']) : {})
    setConflict(!answer.ok && !isRefused)
    if (!answer.ok) return
    setChanges({})
    set(answer)
    forgetViews()
    announce(t('Settings saved'))
  }
  return { values, changed, change, faults, isConflict: isConflict && changed.length > 0, save, discard }
}

function Fields({ organization }: { organization: Organization }) {
  const { values, changed, change, faults, isConflict, save, discard } = useChanges(organization)
  return (
    <section class="settings" aria-labelledby="organization-title">
      <div>
        <h2 id="organization-title">{t('Organization')}</h2>
        <p class="soft">{t('The name and the look of your players. Collections and tracks may have their own.')}</p>
      </div>
      <Form noValidate onSubmit={save}>
        <TextField
          label={t('Name')}
          value={values.name}
          onInput={(name) => change({ name })}
          error={faults.name}
          required
        />
        <TextField
          label={t('Subtitle')}
          value={values.player_subtitle}
          onInput={(player_subtitle) => change({ player_subtitle })}
          error={faults.player_subtitle}
          hint={t('Shown in players where neither the collection nor the track has a subtitle.')}
        />
        <ColorField
          label={t('Player color')}
          value={values.player_color === DEFAULT_COLOR ? null : values.player_color}
          onChange={(player_color) => change({ player_color: player_color ?? DEFAULT_COLOR })}
        />
        <ThemeField colors={values.theme} onChange={(theme) => change({ theme })} />
        <Check
          label={t("Use title, artist, track order and cover from a file's tags where none is set")}
          checked={values.uses_tags}
          onChange={(uses_tags) => change({ uses_tags })}
        />
        <Check
          label={t('Collections may have a cover of their own')}
          checked={values.is_cover_overridable}
          onChange={(is_cover_overridable) => change({ is_cover_overridable })}
        />
        <Check
          label={t('Collections may have colors of their own')}
          checked={values.is_theme_overridable}
          onChange={(is_theme_overridable) => change({ is_theme_overridable })}
        />
        <Message>{faults.other}</Message>
        {isConflict ? (
          <Conflict onMine={save} onTheirs={discard} />
        ) : (
          <div class="actions">
            <Button type="submit" kind="primary" disabled={changed.length === 0}>
              {t('Save')}
            </Button>
            {changed.length > 0 && <Button onClick={discard}>{t('Discard')}</Button>}
          </div>
        )}
      </Form>
    </section>
  )
}
