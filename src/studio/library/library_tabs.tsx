import { href } from '../route.ts'
import { t } from '../text.ts'

/** The two views of the library. */
export const LibraryTabs = ({ current }: { current: '' | 'tracks' }) => (
  <nav class="tabs" aria-label={t('Views of the library')}>
    <a href={href('collections')} aria-current={current === '' ? 'page' : undefined}>
      {t('Albums')}
    </a>
    <a href={href('library', 'tracks')} aria-current={current === 'tracks' ? 'page' : undefined}>
      {t('All tracks')}
    </a>
  </nav>
)
