import { useState } from 'preact/hooks'

import { MAX_PAGE } from '../../../contract/facts.ts'
import { href, type PageProperties, setQuery } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { useQuery } from '../../data/query.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Chips } from '../../ui/controls/chips.tsx'
import { OrderMenu } from '../../ui/controls/order_menu.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { useQueryField } from '../../ui/controls/use_query_field.ts'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { FILTERS, linksOf, SORTS } from './link.ts'
import { ShareTable } from './share_table.tsx'

/** The number of rows that are shown at first, and that the button adds. */
const ROWS = 100

/** The page Shares: the links of the organization. The address has the search, the filter and the order. */
export function SharesPage({ query }: PageProperties) {
  useTitle(t('Shares'))
  const { entries, loading, problem, reload } = useList('/v1/share', (page) => page.shares, {
    query: { include: ['resource', 'visits'] },
  })
  const [words, onWords] = useQueryField(query.q ?? '')
  const [most, setMost] = useState(ROWS)
  const plays = useSharePlays()
  const found = linksOf(
    entries.map((link) => ({ ...link, plays: plays(link.id) })),
    query,
  )
  const isEmpty = !loading && !problem && entries.length === 0
  return (
    <>
      <Head
        title={t('Shares')}
        note={entries.length > 0 && tn({ one: '{n} link', other: '{n} links' }, entries.length)}
      />
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && entries.length === 0 && <Loading rows={6} />}
      {isEmpty && (
        <Empty title={t('No links yet')} action={<a href={href('')}>{t('Go to the start page')}</a>}>
          {t('Share a collection, a track or a playlist from its page. Its links are then listed here.')}
        </Empty>
      )}
      {entries.length > 0 && (
        <>
          <div class="table-tools">
            <SearchField label={t('Search links')} placeholder={t('Search')} value={words} onInput={onWords} />
            <Chips
              label={t('Show')}
              value={query.state ?? ''}
              options={[
                ['', t('All')],
                ...Object.entries(FILTERS).map(([state, { label }]) => [state, t(label)] as const),
              ]}
              onChange={(state) => setQuery({ state })}
            />
            <span class="table-end">
              <OrderMenu
                value={query.sort ?? 'new'}
                options={Object.entries(SORTS).map(([sort, { label }]) => [sort, t(label)] as const)}
                onChange={(sort) => setQuery({ sort: sort === 'new' ? '' : sort })}
              />
            </span>
          </div>
          <p class="soft" role="status">
            {found.length === 0
              ? t('No link matches.')
              : found.length < entries.length
                ? tn({ one: '{n} link matches.', other: '{n} links match.' }, found.length)
                : ''}
          </p>
          {found.length > 0 && <ShareTable links={found.slice(0, most)} />}
          {found.length > most && (
            <div class="actions">
              <Button onClick={() => setMost(most + ROWS)}>{t('Show more')}</Button>
            </div>
          )}
        </>
      )}
    </>
  )
}

/** Returns a function that returns the plays of a link in the last 30 days. One request reads those of the most played links. */
function useSharePlays() {
  const client = useClient()
  const { answer } = useQuery({
    key: ['top shares'],
    load: () => client.get('/v1/stats/top', { query: { scope: 'share', limit: MAX_PAGE } }),
  })
  const plays = new Map(answer?.rows.map((row) => [row.id, row.plays]))
  // If the list is not full, links that are not in it have no plays.
  const least = answer && answer.rows.length < MAX_PAGE ? 0 : undefined
  return (share_id: string) => plays.get(share_id) ?? least
}
