import { useEffect, useState } from 'preact/hooks'

import { go } from '../base/route.ts'
import { t } from '../base/text.ts'
import { useClient } from '../data/connection.ts'
import { announce } from '../ui/page/announce.ts'
import { type Actions, commandsOf } from './commands.ts'
import type * as dialogModules from './shell_dialogs.ts'

/** The dialogs that can be opened on every page. */
export type ShellDialogName = 'jump' | 'collection' | 'shortcuts'

type Dialogs = typeof dialogModules

interface Properties {
  name: ShellDialogName
  actions: Actions
  onClose: () => void
}

/** Loaded once, so that a dialog that opens again does not miss the first keys. */
let loaded: Dialogs | undefined

/** Shows a dialog whose module is loaded when it is first opened. */
export function ShellDialog({ name, actions, onClose }: Properties) {
  const client = useClient()
  const [dialogs, setDialogs] = useState(loaded)
  useEffect(() => {
    if (dialogs) return
    void (async () => {
      loaded = await import('./shell_dialogs.ts').catch(() => undefined)
      if (loaded) return setDialogs(loaded)
      announce(t('This part of the studio could not be loaded. Check the connection and try again.'))
      onClose()
    })()
  }, [])
  if (!dialogs) return null
  const { JumpDialog, ShortcutsDialog, CreateDialog } = dialogs
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
