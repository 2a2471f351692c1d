import { MAX_PASSWORD, MAX_SLUG, MIN_PASSWORD } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field, TextField } from '../../ui/controls/field.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { FeedFields } from './feed_fields.tsx'
import { inDays } from './link.ts'
import { PageFields } from './page_fields.tsx'
import { SitesField } from './sites_field.tsx'
import type { EditedLink } from './use_link.ts'

interface Properties {
  link: EditedLink
  /** The title of the shared resource, which the page has by default. */
  title: string
}

/** The settings of a link: its access and its page. */
export function LinkForm({ link: edited, title }: Properties) {
  const { link, draft, faults, isChanged, edit, save, choose } = edited
  return (
    <Form class="switches" onSubmit={save} aria-label={t('Settings of the link')}>
      <h3>{t('Access')}</h3>
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
              : t('At least {n} characters. Visitors must enter it before they see the page.', { n: MIN_PASSWORD })
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
      <h3>{t('Page')}</h3>
      <Fold title={t('Address and title')} note={draft.slug} isOpen={Boolean(faults.slug ?? faults.title)}>
        <NameFields link={edited} title={title} />
      </Fold>
      <PageFields link={edited} />
      <FeedFields link={edited} />
      {link && isChanged && (
        <div class="save-bar actions end">
          <Button onClick={() => choose(link.id)}>{t('Discard')}</Button>
          <Button type="submit" kind="primary">
            {t('Save changes')}
          </Button>
        </div>
      )}
    </Form>
  )
}

const NameFields = ({ link: { link, draft, faults, edit }, title }: Properties) => (
  <>
    <TextField
      label={t('Address')}
      value={draft.slug}
      onInput={(slug) => edit({ slug })}
      error={faults.slug}
      maxLength={MAX_SLUG}
      placeholder="our-new-record"
      hint={
        link
          ? t('The old address and its QR codes stop working.')
          : t('Letters from a to z, digits and hyphens. Leave it empty for an address that cannot be guessed.')
      }
    />
    <TextField
      label={t('Title on the page')}
      value={draft.title}
      onInput={(shown) => edit({ title: shown })}
      error={faults.title}
      placeholder={title}
    />
  </>
)

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
