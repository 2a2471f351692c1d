import { render } from 'preact'

import { root } from './root.tsx'
import { byId } from './ui/announce.ts'
import { keepScroll } from './ui/scroll.ts'

keepScroll()
render(root(), byId('app'))
// A link with another key was opened in this tab.
window.addEventListener('hashchange', () => location.hash.includes('key=') && location.reload())
