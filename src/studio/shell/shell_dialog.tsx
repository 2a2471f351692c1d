import { go } from '../base/route.ts'
import { t } from '../base/text.ts'
import { useClient } from '../data/connection.ts'
import { announce } from '../ui/page/announce.ts'
import { CreateDialog } from '../ui/page/create_dialog.tsx'
import { type Actions, commandsOf } from './commands.ts'
import { JumpDialog } from './jump_dialog.tsx'
import { ShortcutsDialog } from './shortcuts_dialog.tsx'

/** The dialogs that can be opened on every page. */
export type ShellDialogName = 'jump' | 'collection' | 'shortcuts'

interface Properties {
  name: ShellDialogName
  actions: Actions
  onClose: () => void
}

/** Shows a dialog. Its code is part of the first view: while a module is loaded, the keys after `/` would reach the page. */
export function ShellDialog({ name, actions, onClose }: Properties) {
  const client = useClient()
  if (name === 'jump') return <JumpDialog commands={commandsOf(actions)} onClose={onClose} />
  if (name === 'shortcuts') return <ShortcutsDialog onClose={onClose} />
  return (
    <CreateDialog
      title={t('New collection')}
      make={async (title) => {
        const made = await client.post('/v1/collection', { body: { title } })
        if (!made.ok) return made
        onClose()
        announce(t('{title} created', { title }))
        go('collection', made.collection_id)
        return undefined
      }}
      onClose={onClose}
    />
  )
}
