import { startServices } from '../listening/services.ts'
import { regular, slowDay, type SlowUse } from '../listening/slow.ts'
import type { Use } from '../prices.ts'

/** Memory in GB with which a Durable Object is billed. */
const OBJECT_GB = 0.128
/** Months for which a day of statistics is stored: those of collections for 400 days, those of tracks for 60 (docs/counting.md#days-and-months). */
const STORED_MONTHS = 13
const PLAYS = 1_000_000

/** Returns the use of a million plays, from the use of fewer. */
function perMillion({ reports, daily, plays, read, written, folded, active, cpu, bytes }: SlowUse): Use {
  const times = PLAYS / plays
  const share = reports / daily
  return {
    'Workers requests': reports * times,
    'Durable Object requests': reports * times,
    'Durable Object rows read': read * times,
    'Durable Object rows written': (written + folded * share) * times,
    'Durable Object GB s': active * OBJECT_GB * times,
    'Durable Object storage, GB months': (bytes / 1e9) * share * STORED_MONTHS * times,
    'Workers CPU, ms': cpu * 1000 * times,
  }
}

/** The listening of slow organizations, whose reports are seldom stored together. */
export async function listeningBills(): Promise<Record<string, Use>> {
  const services = await startServices()
  const [day, second] = [await slowDay(services), await regular(services)]
  const rows = ({ written, folded, reports, daily }: SlowUse) => (written / reports + folded / daily).toFixed(2)
  return {
    [`listening of 1,000,000 plays in 100 organizations with 1,800 reports a day (${rows(day)} rows a report)`]:
      perMillion(day),
    [`listening of 1,000,000 plays in an organization with a report a second (${rows(second)} rows a report)`]:
      perMillion(second),
  }
}
