import { setTimeout as sleep } from 'node:timers/promises'

import { randomFrom } from '../../test/support/random.ts'
import { threadSeconds } from '../process.ts'
import { aVisit, reportOf } from './audience.ts'
import { bench, createTracks, type Library, pathsOf, type Services, SESSIONS } from './services.ts'

/** The use of organizations with few reports. Their objects count their rows and their time. */

const TRACKS = 1000
/** Reports of a day of a slow organization, and seconds between two of them. */
const DAILY = 1800
const PAUSE = 45
/** How much faster than real time the reports of a regular organization are sent, one a second, and for how many seconds. */
const SPEED = 10
const STEADY = 600
/** Reports of a regular organization that are not counted: those of the first minute do not wait for others. */
const FIRST = 60

export interface SlowUse {
  reports: number
  plays: number
  /** The reports of a whole day. The folds of a day write about as many rows, and need as many bytes, as the fold at the end of these reports. */
  daily: number
  /** Rows that the object read and wrote, without its last fold, and rows of the last fold. */
  read: number
  written: number
  folded: number
  /** Seconds for which the object had a call. */
  active: number
  cpu: number
  /** Bytes of the database at the end. */
  bytes: number
}

/** Sends one report after another, each of a new visit, and waits between them. Returns what the object has used, with a fold at the end. */
async function measure(
  services: Services,
  count: number,
  between: (workerd: Awaited<ReturnType<Services['start']>>, library: Library, sent: Promise<void>) => Promise<void>,
  speed: number,
  daily: number,
  first = 0,
): Promise<SlowUse> {
  const workerd = await services.start()
  const library = await createTracks(services, workerd, TRACKS)
  const random = randomFrom(3)
  const paths = await pathsOf(workerd, library, 0)
  const { organization_id: organization } = library
  await bench(workerd, { speed: String(speed) })
  const use = async () => ({ ...(await bench(workerd, {})), cpu: threadSeconds(workerd.pid) })
  let before = await use()
  const all: Promise<void>[] = []
  for (let at = 0; at < first + count; at++) {
    if (at === first) before = await use()
    const visit = aVisit(random, library.ids)
    const send = async () => {
      const body = reportOf(visit, 0)
      const { status } = await fetch(`${workerd.url('0')}${paths[at % SESSIONS]!}`, { method: 'POST', body })
      if (status !== 204) throw new Error(`a report was answered ${status}`)
    }
    const sent = send()
    all.push(sent)
    await between(workerd, library, sent)
  }
  await Promise.all(all)
  const { written } = await bench(workerd, {})
  await bench(workerd, { organization, method: 'fold' })
  const after = await use()
  const day = Math.floor(Date.now() / 86_400_000)
  const query = { scope: 'organization', id: organization, by: 'day', from: day - 1, to: day + 2 }
  const { result } = await bench(workerd, { organization, method: 'stats', parameters: JSON.stringify([query]) })
  const bytes = (await bench(workerd, { organization, method: 'stop' })).result as number
  await workerd.stop()
  return {
    reports: count,
    plays: ((result as { totals: number[] }).totals[0]! * count) / (first + count),
    read: after.read - before.read,
    daily,
    written: written - before.written,
    folded: after.written - written,
    active: (after.active - before.active) / 1000,
    cpu: after.cpu - before.cpu,
    bytes,
  }
}

/** A day of an organization whose object is stopped between two reports, and reads its log each time. */
export function slowDay(services: Services): Promise<SlowUse> {
  let passed = 0
  return measure(
    services,
    DAILY,
    async (workerd, { organization_id: organization }, sent) => {
      await sent
      await bench(workerd, { organization, method: 'stop' })
      await bench(workerd, { ahead: String((passed += PAUSE * 1000)) })
    },
    1,
    DAILY,
  )
}

/** An organization with one report a second. */
export const regular = (services: Services): Promise<SlowUse> =>
  measure(services, STEADY, () => sleep(1000 / SPEED), SPEED, 86_400, FIRST)
