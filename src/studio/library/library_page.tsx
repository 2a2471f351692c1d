import { useTrackRows } from '../data/track_rows.ts'
import { href, type PageProperties } from '../route.ts'
import { t } from '../text.ts'
import { Empty } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { LibraryTabs } from './library_tabs.tsx'
import { listOf } from './table_view.ts'
import { TrackTable } from './track_table.tsx'

/** The page Library: all tracks. */
export function LibraryPage({ query }: PageProperties) {
  const list = listOf(query)
  const tracks = useTrackRows(list)
  useTitle(t('All tracks'))
  return (
    <>
      <h1>{t('Library')}</h1>
      <LibraryTabs current="tracks" />
      <TrackTable
        query={query}
        list={list}
        tracks={tracks}
        empty={
          <Empty title={t('No tracks yet')} action={<a href={href('collections')}>{t('Go to your collections')}</a>}>
            {t('Every track that you upload is listed here.')}
          </Empty>
        }
      />
    </>
  )
}
