import type { AccountState } from './account.ts'
import { LOCATIONS, type Plan } from './plan.ts'
import { check, expect } from './report_check.ts'

/** Where the data is: the objects of listening follow the bucket. */

const describe = (jurisdiction: string) => (jurisdiction ? `the jurisdiction ${jurisdiction}` : 'no jurisdiction')

/** Prints where the data is or will be. Fails if the deployed Worker has its data elsewhere. */
export async function checkPlace(plan: Plan, found: AccountState): Promise<void> {
  const { jurisdiction = '', containerJurisdiction } = plan
  const remedy =
    'put the jurisdiction of [[r2_buckets]] back. To move, deploy a second Tonearm there (docs/operate.md#a-second-one), and restore a backup into it (docs/backup.md)'
  const checked = await check('where the data is', remedy, async () => {
    const deployed = found.bindings && (found.bindings.find(({ name }) => name === 'JURISDICTION')?.text ?? '')
    expect(
      deployed === null || deployed === jurisdiction,
      `the deployed Worker has its data in ${describe(deployed ?? '')}. In ${describe(jurisdiction)} are another bucket and other objects of listening, which are empty`,
    )
    if (jurisdiction) return [`bucket, database and listening in the jurisdiction ${jurisdiction}`, true]
    const { bucket } = found
    const place = bucket ? locationOf(found) : plan.location
    const ignored = bucket && plan.location && plan.location !== place ? '; --location has no effect any more' : ''
    return [place ? `bucket and listening in ${place}${ignored}` : 'near this machine', true]
  })
  if (checked && jurisdiction && containerJurisdiction !== jurisdiction && !plan.leavesContainer)
    console.log(
      `-       containers process audio outside of ${jurisdiction}: add constraints = { jurisdiction = "${jurisdiction}" } to [[containers]]`,
    )
}

/** Returns the location of the bucket as a hint for Durable Objects; empty if R2 does not name one. */
function locationOf({ bucket }: AccountState): string {
  const location = bucket?.location?.toLowerCase() ?? ''
  return LOCATIONS.includes(location) ? location : ''
}

/** Returns the variables that place the objects of listening. A jurisdiction needs no hint. */
export const placesOf = ({ jurisdiction = '' }: Plan, found: AccountState) => ({
  JURISDICTION: jurisdiction,
  LOCATION_HINT: jurisdiction ? '' : locationOf(found),
})
