import type { ShareLink } from '../../base/api.ts'
import { number } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { FileLink } from './file_link.tsx'
import { stateOf } from './link.ts'
import { NeedsLink } from './needs_link.tsx'
import type { Shared } from './open_share.ts'
import { PartOfTrack } from './part_of_track.tsx'
import { revoke } from './revoke.ts'
import { TemporaryLink } from './temporary_link.tsx'
import { type EditedLink, NEW } from './use_link.ts'

interface Properties {
  shared: Shared
  title: string
  link: EditedLink
}

/** Links to a part and to the file, links for a day, the other links, and revoking the link. */
export function MoreSharing({ shared, title, link }: Properties) {
  const client = useClient()
  const { entries, choose } = link
  async function end(revoked: ShareLink) {
    if (!(await revoke(client, revoked))) return
    link.drop(revoked)
    if (revoked.id === link.link?.id) choose(undefined)
  }
  const others = entries.filter(({ id }) => id !== link.link?.id).length
  return (
    <div class="more-sharing">
      <h3>{t('More links')}</h3>
      <Fold title={t('Link to a part')}>
        <NeedsLink link={link} reason={t('First create the link.')}>
          {({ url }) => <PartOfTrack shared={shared} url={url} />}
        </NeedsLink>
      </Fold>
      <Fold title={t('Link to the file')}>
        <FileLink link={link.link} />
      </Fold>
      <Fold title={t('Temporary link')}>
        <TemporaryLink {...shared} title={title} />
      </Fold>
      <Fold title={t('Other links')} note={others > 0 && number(others)}>
        <OtherLinks link={link} onRevoke={end} />
        <div class="actions">
          <Button small icon="plus" disabled={link.isNew || entries.length === 0} onClick={() => choose(NEW)}>
            {t('New link')}
          </Button>
        </div>
      </Fold>
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
