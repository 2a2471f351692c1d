import type { CoverImage } from '../../base/api.ts'
import { date, number } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { copyText } from '../../ui/controls/copy.ts'
import { CountedHelp } from '../../ui/controls/help.tsx'
import { announce } from '../../ui/page/announce.ts'
import { hasEnded, type ListedLink, stateOf, titleOfLink } from './link.ts'
import { openShare } from './open_share.ts'
import { revoke } from './revoke.ts'

type Link = ListedLink & { resource?: { artwork: CoverImage } | undefined }

const SCOPES = { collection: text('Collection'), track: text('Track'), playlist: text('Playlist') }

/** The links of the organization, each with its state and its actions. */
export const ShareTable = ({ links }: { links: readonly Link[] }) => (
  <div class="table-box">
    <table class="stacked share-table" aria-label={t('Links')}>
      <thead>
        <tr>
          <th>{t('Shared')}</th>
          <th>{t('State')}</th>
          <th class="number">
            {t('Visits, 30 days')} <CountedHelp of="visits" />
          </th>
          <th class="number">
            {t('Plays, 30 days')} <CountedHelp of="plays" />
          </th>
          <th>{t('Created')}</th>
          <th>
            <span class="visually-hidden">{t('Actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {links.map((link) => (
          <Row key={link.id} link={link} />
        ))}
      </tbody>
    </table>
  </div>
)

function Row({ link }: { link: Link }) {
  const client = useClient()
  const { id: share_id, scope, resource_id: id, slug, url, created_at, has_password, visits, plays, resource } = link
  const title = titleOfLink(link)
  const edit = () => openShare({ scope, id, title, share_id })
  async function copy() {
    const copied = await copyText(url)
    announce(copied ? t('Link copied') : t('The browser did not copy the link. Open it, and copy its address.'))
  }
  return (
    <tr class={hasEnded(link) ? 'ended' : undefined}>
      <th scope="row">
        <span class="shared">
          {resource && <img src={resource.artwork.icon.url} alt="" width="40" height="40" loading="lazy" />}
          <span>
            <span class="name" dir="auto">
              {title}
            </span>
            <span class="hint">
              {t(SCOPES[scope])} ·{' '}
              <a href={url} target="_blank" rel="noopener" dir="ltr">
                /s/{slug}
              </a>
            </span>
          </span>
        </span>
      </th>
      <td data-label={t('State')}>
        {has_password ? t('{state}, with password', { state: stateOf(link) }) : stateOf(link)}
      </td>
      <td class="number" data-label={t('Visits, 30 days')}>
        {visits === undefined ? '–' : number(visits)}
      </td>
      <td class="number" data-label={t('Plays, 30 days')}>
        <a
          href={href('listening', '', '', { scope: 'share', id: share_id })}
          aria-label={plays === undefined ? t('Plays of /s/{slug}', { slug }) : undefined}
        >
          {plays === undefined ? '–' : number(plays)}
        </a>
      </td>
      <td data-label={t('Created')}>{date(created_at)}</td>
      <td>
        <span class="actions end">
          <Button small label={t('Copy /s/{slug}', { slug })} onClick={copy}>
            {t('Copy')}
          </Button>
          <Button small label={t('Edit /s/{slug}', { slug })} onClick={edit}>
            {t('Edit')}
          </Button>
          <Button small kind="quiet" label={t('Revoke /s/{slug}', { slug })} onClick={() => revoke(client, link)}>
            {t('Revoke …')}
          </Button>
        </span>
      </td>
    </tr>
  )
}
