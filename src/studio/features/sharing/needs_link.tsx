import type { ComponentChildren } from 'preact'

import type { ShareLink } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Message } from '../../ui/page/states.tsx'
import { hasEnded } from './link.ts'
import type { EditedLink } from './use_link.ts'

interface Properties {
  link: EditedLink
  /** Why a link is needed. */
  reason: string
  children: (link: ShareLink) => ComponentChildren
}

/** Shows what contains the address of a link, or a button that creates the link. */
export const NeedsLink = ({ link: { link, save, faults }, reason, children }: Properties) =>
  link && !hasEnded(link) ? (
    <>{children(link)}</>
  ) : (
    <div class="needs-link">
      <p class="soft">{link ? t('This link has ended. Choose a later end under Link.') : reason}</p>
      {!link && (
        <Button kind="primary" onClick={save}>
          {t('Create link')}
        </Button>
      )}
      <Message>{Object.values(faults)[0]}</Message>
    </div>
  )
