import type { ComponentChildren } from 'preact'

import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'

interface Properties {
  /** Says what someone else has changed; by default the values of the form. */
  children?: ComponentChildren
  onMine: () => unknown
  onTheirs: () => unknown
}

/** Asks which of two changes of the same value is kept: that of the user or that of someone else. */
export const Conflict = ({ children, onMine, onTheirs }: Properties) => (
  <div class="edit-conflict" role="alert">
    <p>{children ?? t('Someone else has changed the same values. Your changes are in the form and not saved.')}</p>
    <div class="actions">
      <Button small onClick={onMine}>
        {t('Use mine')}
      </Button>
      <Button small onClick={onTheirs}>
        {t('Keep theirs')}
      </Button>
    </div>
  </div>
)
