import { hours, number, percent } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { firstDay } from '../../ui/charts/days.ts'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { RoundedNote } from './rounded_note.tsx'

/** Number of tracks in the list. */
const TRACKS = 10

/** The tracks with the most plays. */
export function TopTracks({ days }: { days: number }) {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['top tracks', days],
    showsPrevious: true,
    load: () => client.get('/v1/stats/top', { query: { from: firstDay(days), limit: TRACKS, include: ['artwork'] } }),
  })
  return (
    <section class="part" aria-labelledby="top-title">
      <h2 id="top-title">{t('Most played tracks')}</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading rows={5} />}
      {answer && <RoundedNote answer={answer} />}
      {answer?.rows.length === 0 && <p class="soft">{t('No plays yet.')}</p>}
      {answer && answer.rows.length > 0 && (
        <div class="table-box">
          <table class="top-tracks" aria-labelledby="top-title">
            <thead>
              <tr>
                <th>{t('Track')}</th>
                <th class="number">{t('Plays')}</th>
                <th class="number wide">{t('Time heard')}</th>
                <th class="number wide">{t('Completed')}</th>
              </tr>
            </thead>
            <tbody>
              {answer.rows.map(({ id, title, artwork, plays, seconds, completions }) => (
                <tr key={id}>
                  <th scope="row">
                    <span class="top-track">
                      {artwork && <img src={artwork.icon.url} alt="" width="40" height="40" />}
                      {title === null ? (
                        <span class="soft">{t('Deleted track')}</span>
                      ) : (
                        <a class="name" dir="auto" href={href('track', id)}>
                          {title}
                        </a>
                      )}
                    </span>
                  </th>
                  <td class="number">{number(plays)}</td>
                  <td class="number wide">{hours(seconds)}</td>
                  <td class="number wide">{percent(plays > 0 ? completions / plays : 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
