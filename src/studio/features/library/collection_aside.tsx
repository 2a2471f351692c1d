import type { Collection, Failure, ShareLink } from '../../base/api.ts'
import { joined } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { visitsIn30Days } from '../../data/stats.ts'
import { Button } from '../../ui/controls/button.tsx'
import { copyText } from '../../ui/controls/copy.ts'
import { Fold } from '../../ui/controls/fold.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Problem } from '../../ui/page/states.tsx'
import { useVisible } from '../../ui/page/visible.ts'
import { hasEnded, stateOf } from '../sharing/link.ts'
import { openShare } from '../sharing/open_share.ts'
import { type Look, LookForm } from './look_form.tsx'

type Link = ShareLink & { visits?: number | undefined }

interface Properties {
  collection: Collection
  /** Whether a track can be played, so that there is a preview. */
  isPlayable: boolean
  links: { entries: Link[]; problem: Failure | undefined; reload: () => void }
  save: (changes: Look) => Promise<Failure | undefined>
}

/** The parts next to the tracks of a collection: its appearance in players, its links, and its ids. */
export function CollectionAside({ collection, isPlayable, links, save }: Properties) {
  const [look, isVisible] = useVisible<HTMLDivElement>()
  const { id, title, organization_index } = collection
  return (
    <>
      <Fold title={t('Look')} isOpen>
        <div ref={look}>
          {isVisible && (
            <LookForm
              scope="collection"
              id={id}
              values={collection}
              preview={isPlayable ? { scope: 'collection', id } : null}
              save={save}
            />
          )}
        </div>
      </Fold>
      <section class="part" aria-labelledby="links-title">
        <h2 id="links-title">{t('Links')}</h2>
        {links.problem && <Problem failure={links.problem} retry={links.reload} />}
        {links.entries.length === 0 && !links.problem && <p class="soft">{t('Nobody can listen with a link yet.')}</p>}
        <ul class="collection-links" aria-label={t('Links')}>
          {links.entries.map((link) => (
            <LinkRow
              key={link.id}
              link={link}
              onEdit={() => openShare({ scope: 'collection', id, title, share_id: link.id })}
            />
          ))}
        </ul>
      </section>
      <Fold title={t('Ids for developers')}>
        <div class="ids">
          <Copyable label={t('Id of the collection')} value={id} />
          {organization_index && <Copyable label={t('Your own id')} value={organization_index} />}
          <Copyable
            label={t('Request')}
            value={`curl -H 'Authorization: Bearer KEY' ${location.origin}/v1/collection/${id}`}
          />
        </div>
      </Fold>
    </>
  )
}

function LinkRow({ link, onEdit }: { link: Link; onEdit: () => void }) {
  const { slug, url, has_password, visits } = link
  async function copy() {
    const copied = await copyText(url)
    announce(copied ? t('Link copied') : t('The browser did not copy the link. Open it, and copy its address.'))
  }
  const facts = [
    has_password ? t('{state}, with password', { state: stateOf(link) }) : stateOf(link),
    ...(visits === undefined ? [] : [visitsIn30Days(visits)]),
  ]
  return (
    <li class={hasEnded(link) ? 'ended' : ''}>
      <span class="line-text">
        <a href={url} target="_blank" rel="noopener">
          /s/{slug}
        </a>
        <span class="soft">{joined(facts)}</span>
      </span>
      <Button small label={t('Copy /s/{slug}', { slug })} onClick={copy}>
        {t('Copy')}
      </Button>
      <Button small kind="quiet" icon="edit" label={t('Edit /s/{slug}', { slug })} onClick={onEdit} />
    </li>
  )
}
