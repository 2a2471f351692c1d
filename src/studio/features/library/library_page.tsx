import { DEFAULT_ACCEPT } from '../../../client/upload/accept.ts'
import { href, type PageProperties, type Route } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { useTrackRows } from '../../data/track_rows.ts'
import { uploadAsCollection } from '../../data/uploads.ts'
import { FileButton } from '../../ui/controls/button.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { listOf } from '../track_table/table_view.ts'
import { TrackTable } from '../track_table/track_table.tsx'
import { Shelf } from './shelf.tsx'

/** The page Library: all collections, or all tracks. */
export const LibraryPage = ({ id, query }: PageProperties) =>
  id === 'tracks' ? <AllTracks query={query} /> : <Albums query={query} />

/** The two views of the library. */
const LibraryTabs = ({ current }: { current: '' | 'tracks' }) => (
  <nav class="tabs" aria-label={t('Views of the library')}>
    <a href={href('library')} aria-current={current === '' ? 'page' : undefined}>
      {t('Collections')}
    </a>
    <a href={href('library', 'tracks')} aria-current={current === 'tracks' ? 'page' : undefined}>
      {t('All tracks')}
    </a>
  </nav>
)

function Albums({ query }: { query: Route['query'] }) {
  const connection = useConnection()
  const { client } = connection
  return (
    <Shelf
      kind="collection"
      query={query}
      title={t('Library')}
      tabs={<LibraryTabs current="" />}
      search={t('Search collections')}
      creation={t('New collection')}
      create={async (title) => {
        const made = await client.post('/v1/collection', { body: { title } })
        return made.ok ? { ok: true, id: made.collection_id } : made
      }}
      empty={{
        title: t('Nothing here yet'),
        text: t(
          'A collection holds tracks: an album, a podcast, a sample pack. Choose audio files or drop them anywhere on this page, and they become one.',
        ),
        action: (
          <FileButton
            accept={DEFAULT_ACCEPT}
            multiple
            kind="primary"
            icon="upload"
            onFiles={(files) => uploadAsCollection(connection, files)}
          >
            {t('Choose files')}
          </FileButton>
        ),
      }}
    />
  )
}

function AllTracks({ query }: { query: Route['query'] }) {
  const list = listOf(query)
  const tracks = useTrackRows(list)
  useTitle(t('All tracks'))
  return (
    <>
      <Head title={t('Library')} />
      <LibraryTabs current="tracks" />
      <TrackTable
        query={query}
        list={list}
        tracks={tracks}
        empty={
          <Empty title={t('No tracks yet')} action={<a href={href('library')}>{t('Go to your collections')}</a>}>
            {t('Every track that you upload is listed here.')}
          </Empty>
        }
      />
    </>
  )
}
