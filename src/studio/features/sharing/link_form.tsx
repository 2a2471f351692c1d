import { MAX_PASSWORD, MIN_PASSWORD } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field, TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { FeedFields } from './feed_fields.tsx'
import { inDays, isNaming } from './link.ts'
import { PageFields } from './page_fields.tsx'
import { SitesField } from './sites_field.tsx'
import type { EditedLink } from './use_link.ts'

/** The settings of a link. */
export function LinkForm({ link: edited }: { link: EditedLink }) {
  const { link, draft, faults, changed, edit, save } = edited
  return (
    <Form class="switches" onSubmit={save} aria-label={t('Settings of the link')}>
      <Switch label={t('Password')} checked={draft.hasPassword} onChange={(hasPassword) => edit({ hasPassword })}>
        <TextField
          label={link?.has_password ? t('New password') : t('Password')}
          value={draft.password}
          onInput={(password) => edit({ password })}
          error={faults.password}
          maxLength={MAX_PASSWORD}
          hint={
            link?.has_password
              ? t('Leave it empty to keep the current password.')
              : t('At least {n} characters. Visitors must enter it before they see anything.', { n: MIN_PASSWORD })
          }
        />
      </Switch>
      <Switch label={t('Ends')} checked={draft.ends} onChange={(ends) => edit({ ends })}>
        <EndField value={draft.ends_at} onInput={(ends_at) => edit({ ends_at })} error={faults.expires_at} />
      </Switch>
      <Switch
        label={t('Visitors may download')}
        checked={draft.downloadable}
        onChange={(downloadable) => edit({ downloadable })}
      />
      <Switch
        label={t('Embed only on these sites')}
        checked={draft.hasSites}
        onChange={(hasSites) => edit({ hasSites })}
      >
        <SitesField
          value={draft.sites}
          onInput={(sites) => edit({ sites })}
          error={faults.allowed_origins}
          hint={t('Sites that may show the player, with spaces between them. The link itself opens for everyone.')}
        />
      </Switch>
      <PageFields link={edited} />
      <FeedFields link={edited} />
      {link && changed.some((field) => !isNaming(field)) && (
        <div class="actions end">
          <Button type="submit">{t('Save changes')}</Button>
        </div>
      )}
    </Form>
  )
}

interface EndProperties {
  value: string
  onInput: (value: string) => void
  error: string | undefined
}

const EndField = ({ value, onInput, error }: EndProperties) => (
  <Field label={t('Ends on')} error={error}>
    {(id, described) => (
      <span class="end-field">
        <input
          type="datetime-local"
          id={id}
          aria-describedby={described}
          aria-invalid={error ? true : undefined}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <Button small onClick={() => onInput(inDays(7))}>
          {t('In a week')}
        </Button>
        <Button small onClick={() => onInput(inDays(30))}>
          {t('In 30 days')}
        </Button>
        <Button small onClick={() => onInput(inDays(365))}>
          {t('In a year')}
        </Button>
      </span>
    )}
  </Field>
)
