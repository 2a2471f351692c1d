import { t } from '../../base/text.ts'

/** A link to the rules of counting. */
export const CountingLink = () => (
  <a href="/docs/counting" target="_blank" rel="noopener">
    {t('How listening is counted')}
  </a>
)
