import { Fragment } from 'preact'

import { t } from '../base/text.ts'
import { Dialog } from '../ui/page/dialog.tsx'

/** The list of shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const shortcuts = [
    ['/', t('Search or jump')],
    [t('Space'), t('Play or pause')],
    ['U', t('Upload files')],
    ['N', t('New collection')],
    ['J K', t('Next or previous row')],
    ['X', t('Select the row')],
    ['Alt ↑ ↓', t('Move the row in a collection or a playlist')],
    ['Del', t('Delete the row or the selection; in a playlist, remove it')],
    ['M', t('Open the menu of the row')],
    ['E', t('Edit the selection')],
    ['Ctrl Z', t('Undo the last action')],
    ['Esc', t('Close, or clear the selection')],
    ['?', t('Keyboard shortcuts')],
  ]
  return (
    <Dialog title={t('Keyboard shortcuts')} onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(([key, meaning]) => (
          <Fragment key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  )
}
