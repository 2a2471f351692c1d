import type { StatsScope } from '../../base/api.ts'
import { href, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { useResourceTitle } from '../../data/title.ts'
import { lastDays, type Period, queryOf, rangeOf } from '../../ui/charts/period.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty } from '../../ui/page/states.tsx'
import { openShare } from '../sharing/open_share.ts'
import { CountingLink } from './counting_link.tsx'

interface Properties {
  scope: StatsScope
  id: string
  period: Period
  /** Whether only a country or a source is shown. */
  isPlace: boolean
}

/** The page Listening without numbers, with the next step: a longer period, or a link to share. */
export function NothingHeard({ scope, id, period, isPlace }: Properties) {
  const isYear = rangeOf(period) === 365
  return (
    <Empty
      title={isYear ? t('Nothing was heard in the last year') : t('Nothing was heard in this period')}
      action={
        <>
          {isPlace ? (
            <Button kind="primary" onClick={() => setQuery({ country: '', source: '' })}>
              {t('Show all countries and sources')}
            </Button>
          ) : (
            <ShareButton scope={scope} id={id} />
          )}
          {!isYear && <Button onClick={() => setQuery(queryOf(lastDays(365)))}>{t('Show 365 days')}</Button>}
        </>
      }
    >
      {t('Plays appear here within minutes, from players on your pages and on the pages of your links.')}{' '}
      <CountingLink />
    </Empty>
  )
}

/** Opens the share dialog of the resource, or of the newest collection. */
function ShareButton({ scope, id }: { scope: StatsScope; id: string }) {
  const client = useClient()
  const isResource = scope === 'collection' || scope === 'track' || scope === 'playlist'
  const own = useResourceTitle(isResource ? { scope, id } : null).answer
  const newest = useQuery({
    key: ['newest collection'],
    load: () => client.get('/v1/collection', { query: { limit: 1 } }),
  }).answer?.collections[0]
  if (scope === 'share') {
    return (
      <a class="button primary" href={href('shares')}>
        {t('Show all links')}
      </a>
    )
  }
  const shared = isResource
    ? own && { scope, id, title: own.title }
    : newest && { scope: 'collection' as const, id: newest.id, title: newest.title }
  if (!shared) {
    return (
      <a class="button primary" href={href('library')}>
        {t('Open the library')}
      </a>
    )
  }
  return (
    <Button kind="primary" icon="share" onClick={() => openShare(shared)}>
      {t('Share “{title}”', { title: shared.title })}
    </Button>
  )
}
