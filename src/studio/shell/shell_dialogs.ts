/** The dialogs that can be opened on every page, in one module that is loaded when the first of them opens. */
export { JumpDialog } from './jump_dialog.tsx'
export { ShortcutsDialog } from './shortcuts_dialog.tsx'
export { CreateDialog } from '../ui/page/create_dialog.tsx'
