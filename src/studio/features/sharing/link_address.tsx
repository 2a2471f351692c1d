import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'

import { date } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { playsIn30Days, useStats, visitsIn30Days } from '../../data/stats.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Message } from '../../ui/page/states.tsx'
import { hasEnded, stateOf } from './link.ts'
import type { EditedLink } from './use_link.ts'

interface Properties {
  link: EditedLink
  /** The address, which is selected if the browser does not copy it. */
  place: RefObject<HTMLElement | null>
  /** Resolves to whether the link was copied. */
  onCopy: () => Promise<boolean>
}

/** Milliseconds for which the button says that the link was copied. */
const SHOWN_FOR = 1500

/** The address of a link with the button that copies it. The first click creates the link. */
export function LinkAddress({ link: { link, isChanged, entries, isNew, faults }, place, onCopy }: Properties) {
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    if (!(await onCopy())) return
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_FOR)
  }
  const isEnded = link !== undefined && hasEnded(link)
  return (
    <div class="link-address">
      <code ref={place} class={link ? '' : 'soft'} dir={link && 'ltr'}>
        {link?.url ?? t('The link is created when you copy it.')}
      </code>
      <span data-first>
        <Button kind="primary" onClick={copy}>
          {isCopied ? t('Copied') : link && isChanged ? t('Save and copy link') : t('Copy link')}
        </Button>
      </span>
      <p class="hint">
        {link && !isEnded && (
          <>
            {stateOf(link)} · {t('Since {date}', { date: date(link.created_at) })}
            <Heard share_id={link.id} />
            {' · '}
            <a href={link.url} target="_blank" rel="noopener">
              {t('Open')}
            </a>
          </>
        )}
        {isEnded && t('This link has ended. Choose a later end to open it again.')}
        {!link && isNew && t('Another link, with its own settings.')}
        {!link && !isNew && entries.length > 0 && t('The earlier links have ended. This is a new one.')}
        {!link && entries.length === 0 && t('Everyone who has the link can listen, until you revoke it.')}
      </p>
      <Message>{faults.other}</Message>
    </div>
  )
}

/** How often a link was used and heard. */
function Heard({ share_id }: { share_id: string }) {
  const { answer } = useStats({ scope: 'share', id: share_id })
  if (!answer) return null
  const { visits, plays } = answer.totals
  return <>{` · ${visitsIn30Days(visits)} · ${playsIn30Days(plays)}`}</>
}
