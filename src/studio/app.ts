import { render } from 'preact'

import { applyPreferences } from './data/preferences.ts'
import { root } from './shell/root.tsx'
import { byId, prepareOffers } from './ui/page/announce.ts'
import { keepScroll } from './ui/page/scroll.ts'

keepScroll()
prepareOffers()
void applyPreferences().then(() => render(root(), byId('app')))
// A link with another key was opened in this tab.
window.addEventListener('hashchange', () => location.hash.includes('key=') && location.reload())
