import { render } from 'preact'

import { applyPreferences } from './preferences.ts'
import { root } from './root.tsx'
import { byId, prepareOffers } from './ui/announce.ts'
import { keepScroll } from './ui/scroll.ts'

keepScroll()
prepareOffers()
void applyPreferences().then(() => render(root(), byId('app')))
// A link with another key was opened in this tab.
window.addEventListener('hashchange', () => location.hash.includes('key=') && location.reload())
