import type { ComponentChildren } from 'preact'

import { MAX_SLUG } from '../../../contract/facts.ts'
import type { ShareLink } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { FileLink } from './file_link.tsx'
import { isNaming, stateOf } from './link.ts'
import type { Shared } from './open_share.ts'
import { revoke } from './revoke.ts'
import { TemporaryLink } from './temporary_link.tsx'
import { type EditedLink, NEW } from './use_link.ts'

interface Properties {
  shared: Shared
  title: string
  link: EditedLink
}

/** The rare settings and actions: another address or title, other links, the link to the file, links for a day, and revoking the link. */
export function MoreSharing({ shared, title, link }: Properties) {
  const client = useClient()
  const { faults, draft, edit, save, entries, choose } = link
  async function end(revoked: ShareLink) {
    if (!(await revoke(client, revoked))) return
    link.drop(revoked)
    if (revoked.id === link.link?.id) choose(undefined)
  }
  return (
    <div class="more-sharing">
      <More title={t('Address and title')} isOpen={Boolean(faults.slug ?? faults.title)}>
        <Form onSubmit={save}>
          <TextField
            label={t('Address')}
            value={draft.slug}
            onInput={(slug) => edit({ slug })}
            error={faults.slug}
            maxLength={MAX_SLUG}
            placeholder="our-new-record"
            hint={
              link.link
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
          {link.link && link.changed.some(isNaming) && (
            <div class="actions end">
              <Button type="submit">{t('Save changes')}</Button>
            </div>
          )}
        </Form>
      </More>
      <More title={t('Other links')}>
        <OtherLinks link={link} onRevoke={end} />
        <div class="actions">
          <Button small icon="plus" disabled={link.isNew || entries.length === 0} onClick={() => choose(NEW)}>
            {t('New link')}
          </Button>
        </div>
      </More>
      <More title={t('Link to the file')}>
        <FileLink link={link.link} />
      </More>
      <More title={t('Temporary link')}>
        <TemporaryLink {...shared} title={title} />
      </More>
      {link.link && (
        <div class="actions end">
          <Button kind="quiet" small onClick={() => end(link.link!)}>
            {t('Revoke this link …')}
          </Button>
        </div>
      )}
    </div>
  )
}

const More = ({ title, isOpen, children }: { title: string; isOpen?: boolean; children: ComponentChildren }) => (
  <details open={isOpen}>
    <summary>{title}</summary>
    <div>{children}</div>
  </details>
)

function OtherLinks({ link, onRevoke }: { link: EditedLink; onRevoke: (link: ShareLink) => Promise<void> }) {
  const others = link.entries.filter(({ id }) => id !== link.link?.id)
  if (others.length === 0) return <p class="soft">{t('Another link can have its own password, end and address.')}</p>
  return (
    <ul class="other-links" aria-label={t('Other links')}>
      {others.map((one) => (
        <li key={one.id}>
          <span>
            <bdi dir="ltr">/s/{one.slug}</bdi>
            <span class="hint">{stateOf(one)}</span>
          </span>
          <Button small label={t('Edit /s/{slug}', { slug: one.slug })} onClick={() => link.choose(one.id)}>
            {t('Edit')}
          </Button>
          <Button small kind="quiet" label={t('Revoke /s/{slug}', { slug: one.slug })} onClick={() => onRevoke(one)}>
            {t('Revoke …')}
          </Button>
        </li>
      ))}
    </ul>
  )
}
