import type { ShareLink } from '../../base/api.ts'
import { href } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { PROBLEM_TEXTS } from './feed.ts'

/** The address of a saved feed, and the faults for which Apple and Spotify would refuse it. */
export function FeedState({ link, feed_url }: { link: ShareLink; feed_url: string }) {
  const client = useClient()
  const params = { share_id: link.id }
  const { answer, problem, reload } = useQuery({
    // The settings of the link are part of the key, so that each change is checked.
    key: ['/v1/share/{share_id}/feed', JSON.stringify(link)],
    load: () => client.get('/v1/share/{share_id}/feed', { params }),
  })
  return (
    <div class="feed-state">
      <Copyable label={t('Address of the feed')} value={feed_url} />
      {problem && !answer && <Problem failure={problem} retry={reload} />}
      {!problem && !answer && <Loading rows={1} />}
      {answer && (
        <>
          <p class="soft">{tn({ one: '{n} episode', other: '{n} episodes' }, answer.episodes)}</p>
          {answer.problems.length === 0 && <p>{t('Nothing is known that Apple or Spotify would refuse.')}</p>}
          {answer.problems.length > 0 && (
            <>
              <p id="feed-problems">{t('Apple and Spotify would refuse this feed:')}</p>
              <ul aria-labelledby="feed-problems">
                {answer.problems.map(({ code, message, track_ids: [first] }) => (
                  <li key={code}>
                    {code in PROBLEM_TEXTS ? t(PROBLEM_TEXTS[code]) : message}
                    {first && (
                      <>
                        {' '}
                        <a href={href('track', first)}>{t('Show the first one')}</a>
                      </>
                    )}
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </div>
  )
}
