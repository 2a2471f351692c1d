import { useRef, useState } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { useResourceTitle } from '../../data/title.ts'
import { copyText } from '../../ui/controls/copy.ts'
import { TabList } from '../../ui/controls/tab_list.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { EmbedTab } from './embed_tab.tsx'
import { LinkAddress } from './link_address.tsx'
import { LinkForm } from './link_form.tsx'
import { MoreSharing } from './more_sharing.tsx'
import { closeShare, type Shared, titleOf } from './open_share.ts'
import { QrTab } from './qr_tab.tsx'
import { useLink } from './use_link.ts'

type Tab = 'link' | 'embed' | 'qr'

/** The dialog that shares a collection, a track or a playlist: its link, the code for other pages, and the QR code. */
export function ShareDialog({ shared }: { shared: Shared }) {
  const known = titleOf(shared)
  const read = useResourceTitle(known === undefined ? shared : null)
  const title = known ?? read.answer?.title
  const link = useLink(shared)
  const address = useRef<HTMLElement>(null)
  const [tab, setTab] = useState<Tab>('link')

  /** Copies the link, which is created or saved first. Resolves to whether it was copied. */
  async function copy(): Promise<boolean> {
    const saving = link.link && !link.isChanged ? null : link.save()
    const urlOf = async () => {
      const saved = await saving
      if (!saved) throw new Error('The link was not saved.')
      return saved.url
    }
    const copied = await copyText(saving ? urlOf() : link.link!.url)
    if (saving && !(await saving)) return false
    if (!copied && address.current) getSelection()?.selectAllChildren(address.current)
    announce(copied ? t('Link copied') : t('The browser did not copy the link. Copy the selected address.'))
    return copied
  }
  const problem = read.problem ?? link.problem
  return (
    <Dialog
      title={title === undefined ? t('Share') : t('Share “{title}”', { title })}
      size="large"
      asks={link.isChanged && DISCARD}
      onClose={closeShare}
    >
      {problem && <Problem failure={problem} retry={link.reload} />}
      {!problem && (link.loading || title === undefined) && <Loading kind="fields" rows={4} />}
      {!problem && !link.loading && title !== undefined && (
        <TabList
          label={t('Ways to share')}
          current={tab}
          tabs={[
            ['link', t('Link')],
            ['embed', t('Embed')],
            ['qr', t('QR code')],
          ]}
          onChange={setTab}
        >
          {tab === 'link' && (
            <>
              <LinkAddress link={link} place={address} onCopy={copy} />
              <div class="share-columns">
                <LinkForm link={link} title={title} />
                <MoreSharing shared={shared} title={title} link={link} />
              </div>
            </>
          )}
          {tab === 'embed' && <EmbedTab shared={shared} title={title} link={link} />}
          {tab === 'qr' && <QrTab link={link} />}
        </TabList>
      )}
    </Dialog>
  )
}
