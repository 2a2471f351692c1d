import type { StatsScope } from '../api.ts'
import { useStats } from '../data/stats.ts'
import { href } from '../route.ts'
import { tn } from '../text.ts'

/** The plays of a resource in the last 30 days, with a link to its statistics. */
export function PlaysLink({ scope, id }: { scope: StatsScope; id: string }) {
  const { answer } = useStats({ scope, id })
  if (!answer) return null
  return (
    <>
      {' · '}
      <a class="plays-link" href={href('listening', '', '', { scope, id })}>
        {playsIn30Days(answer.totals.plays)}
      </a>
    </>
  )
}

export const playsIn30Days = (plays: number) => tn({ one: '{n} play in 30 days', other: '{n} plays in 30 days' }, plays)
