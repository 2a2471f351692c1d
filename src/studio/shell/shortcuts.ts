import { useEffect } from 'preact/hooks'

import { FIELDS } from '../ui/controls/fields.ts'
import { takeOffer } from '../ui/page/announce.ts'
import type { Actions } from './commands.ts'

/** Elements that Space activates. */
const PRESSED = 'input, button, a, summary, [role=button], [role=row], [role=option], [role=menuitem], [role=checkbox]'

/** Runs an action when its key is pressed outside of fields and dialogs. */
export function useShortcuts(actions: (Actions & { togglePlay: () => void }) | null): void {
  useEffect(() => {
    if (!actions) return undefined
    function press(event: KeyboardEvent) {
      const target = event.target as Element
      if (!actions) return
      const isCommand = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      if (event.defaultPrevented || event.isComposing || event.altKey || document.querySelector('dialog[open]')) return
      if (isCommand && key === 'k') actions.search()
      else if (target.closest(FIELDS)) return
      else if (isCommand && key === 'z' && !event.shiftKey) {
        if (!takeOffer()) return
      } else if (isCommand) return
      else if (key === '/') actions.search()
      else if (key === 'n') actions.newCollection()
      else if (key === 'u') actions.upload()
      else if (key === '?') actions.showShortcuts()
      else if (key === ' ' && !target.closest(PRESSED)) actions.togglePlay()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}
