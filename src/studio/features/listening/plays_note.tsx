import type { StatsScope } from '../../base/api.ts'
import { href } from '../../base/route.ts'
import { playsIn30Days, useStats } from '../../data/stats.ts'

interface Properties {
  scope: StatsScope
  id: string
  /** The facts in front of the plays. It is empty until they are known. */
  note: string
}

/** The note of a resource: its facts and its plays in the last 30 days, with a link to its statistics. */
export function PlaysNote({ scope, id, note }: Properties) {
  const { answer } = useStats({ scope, id })
  return (
    <>
      {note && <span>{note}</span>}
      {note && answer && ' · '}
      {answer && (
        <a class="plays-link" href={href('listening', '', '', { scope, id })}>
          {playsIn30Days(answer.totals.plays)}
        </a>
      )}
    </>
  )
}
