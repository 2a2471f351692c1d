import { useClient } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { artistOf, clock, nameOf, plural } from '../format.ts'
import { href } from '../route.ts'
import { t } from '../text.ts'
import { Problem } from '../ui/states.tsx'

const MOST = 20

/** The tracks of all collections that match a search, newest first. */
export function FoundTracks({ words }: { words: string }) {
  const client = useClient()
  const query = { q: words, limit: MOST, include: 'artwork,collection' }
  const { answer, problem, reload } = useQuery({
    key: ['/v1/track', query],
    load: () => client.get('/v1/track', { query }),
  })
  if (problem) return <Problem failure={problem} retry={reload} />
  if (!answer) return null
  const { tracks, count, is_count_exact } = answer
  const all = count === 0 ? t('No tracks found.') : plural(count, 'track', is_count_exact === false)
  return (
    <section>
      <h2>{t('Tracks')}</h2>
      <p class="soft" role="status">
        {count > tracks.length ? t('The newest {n} of {all}', { n: tracks.length, all }) : all}
      </p>
      <ul class="found" aria-label={t('Tracks')}>
        {tracks.map((track) => (
          <li key={track.id}>
            <img src={track.artwork?.icon.url} alt="" width="40" height="40" loading="lazy" />
            <a class="name" href={href('track', track.id)}>
              {nameOf(track)}
            </a>
            <span class="soft">{artistOf(track)}</span>
            {track.collection && (
              <a class="soft" href={href('collection', track.collection_id)}>
                {track.collection.title}
              </a>
            )}
            <span class="duration">{track.duration > 0 && clock(track.duration)}</span>
          </li>
        ))}
      </ul>
      {count > tracks.length && <a href={href('library', 'tracks', '', { q: words })}>{t('Show all in a table')}</a>}
    </section>
  )
}
