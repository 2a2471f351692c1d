import { render } from 'preact'

import { byId } from './announce.ts'
import { root } from './root.tsx'
import { keepScroll } from './scroll.ts'

keepScroll()
render(root(), byId('app'))
// Another link with a key was opened in this tab.
window.addEventListener('hashchange', () => location.hash.includes('key=') && location.reload())
