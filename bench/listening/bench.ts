import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { MINUTE } from '../../src/contract/time.ts'
import { randomFrom } from '../../test/support/random.ts'
import { PRICES } from '../prices.ts'
import { threadSeconds, watchOthers } from '../process.ts'
import { withCleanup } from '../worker/cleanup.ts'
import { othersLine } from '../worker/table.ts'
import { runningPids, type Workerd } from '../worker/workerd.ts'
import { aVisit, createRecount, reportOf, type Visit } from './audience.ts'
import { sendAll } from './client.ts'
import { killAgain } from './kill.ts'
import {
  bench,
  compare,
  createTracks,
  HEAP,
  type Library,
  line,
  pathsOf,
  type Services,
  SESSIONS,
  startServices,
} from './services.ts'

const HELP = `npm run bench -- listening [options]      Linux only

Sends listening reports by HTTP to the Worker and its object, compares the sums with a naive recount of all reports, and counts the rows that the object
writes. Then kills the Worker twenty times under load and compares again. It fails if a sum differs or a goal is missed.

  --reports 1000000     reports for 1,000 tracks; a quarter as many for 100,000 tracks
  --connections 500     connections
  --kills 20            kills`

const options = {
  reports: { type: 'string', default: '1000000' },
  connections: { type: 'string', default: '500' },
  kills: { type: 'string', default: '20' },
  help: { type: 'boolean', default: false },
} as const

/** Number of visits that are open at the same time. */
const BATCH = 16_000
/** Goals: rows written for a million reports for 1,000 tracks, and rows per play for 100,000 tracks. */
const GOALS = { rows: 30_000, rowsPerPlay: 0.2 }

const memoryOf = (pid: number, field: 'VmHWM' | 'VmRSS') =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1000

/** Sends the reports of an audience, in batches of visits, with the time that passes between. */
async function load(
  workerd: Workerd,
  library: Library,
  reports: number,
  connections: number,
  say: (text: string) => void,
) {
  const random = randomFrom(7)
  const recount = createRecount()
  let [ahead, sent] = [0, 0]
  const wait = async (minutes: number) => bench(workerd, { ahead: String((ahead += minutes * MINUTE)) })
  while (sent < reports) {
    const visits = Array.from({ length: Math.min(BATCH, Math.ceil((reports - sent) / 2.5)) }, () =>
      aVisit(random, library.ids),
    )
    const paths = await pathsOf(workerd, library, ahead)
    for (const index of [0, 1, 2]) {
      const wave = visits.flatMap((visit, at): [Visit, number][] => (index < visit.reports.length ? [[visit, at]] : []))
      let next = 0
      const statuses = await sendAll(workerd.url('0'), connections, () => {
        const [visit, at] = wave[next++] ?? []
        return visit && { path: paths[at! % SESSIONS]!, body: reportOf(visit, index) }
      })
      if (statuses.get(204) !== wave.length) throw new Error(`responses: ${JSON.stringify([...statuses])}`)
      sent += wave.length
      await wait(15)
    }
    for (const visit of visits) recount.add(visit)
    await wait(31)
    say(`${sent.toLocaleString('en')} reports`)
  }
  return { recount, sent, ahead }
}

async function measure(services: Services, tracks: number, reports: number, connections: number) {
  const workerd = await services.start()
  const library = await createTracks(services, workerd, tracks)
  const idle = memoryOf(workerd.pid, 'VmRSS')
  const before = { cpu: threadSeconds(workerd.pid), written: (await bench(workerd, {})).written, at: performance.now() }
  const say = (text: string) => console.error(`${tracks.toLocaleString('en')} tracks: ${text}`)
  const { recount, sent, ahead } = await load(workerd, library, reports, connections, say)
  await bench(workerd, { organization: library.organization_id, method: 'fold' })
  const cpu = threadSeconds(workerd.pid) - before.cpu
  const seconds = (performance.now() - before.at) / 1000
  const { written } = await bench(workerd, {})
  const rows = written - before.written
  const peak = memoryOf(workerd.pid, 'VmHWM')
  const { differences, plays } = await compare(workerd, library, recount, ahead)
  await workerd.stop()
  console.log(
    `\n${tracks.toLocaleString('en')} tracks, ${sent.toLocaleString('en')} reports, ${plays.toLocaleString('en')} plays`,
  )
  line('sums that differ from the recount', differences.slice(0, 5).join('; ') || '0', differences.length === 0)
  const perPlay = rows / plays
  const isMet = tracks > 1000 ? perPlay <= GOALS.rowsPerPlay : rows <= (GOALS.rows * Math.max(sent, 250_000)) / 1e6
  line('rows written by the object', `${rows.toLocaleString('en')}, ${perPlay.toFixed(3)} per play`, isMet)
  line('CPU per report', `${((cpu / sent) * 1e6).toFixed(0)} µs, in ${seconds.toFixed(0)} s`)
  line(
    'heap, at most',
    `${HEAP} MB; workerd takes ${(peak - idle).toFixed(0)} MB more than an idle one, with its connections`,
  )
  const dollars =
    (sent * (PRICES['Workers requests'] + PRICES['Durable Object requests']) +
      rows * PRICES['Durable Object rows written'] +
      cpu * 1000 * PRICES['Workers CPU, ms']) /
    plays
  line('dollars per million plays', (dollars * 1e6).toFixed(2))
}

export const listening = {
  about: 'listening reports: sums against a recount, rows, CPU, memory, dollars; kill -9',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const [reports, connections, kills] = [values.reports, values.connections, values.kills].map(Number) as [
      number,
      number,
      number,
    ]
    if (!(reports >= 0 && connections > 0 && kills >= 0))
      throw new Error('--reports, --connections and --kills must be numbers')
    await withCleanup(async () => {
      const services = await startServices()
      const shareOfOthers = watchOthers(runningPids)
      if (reports > 0) {
        await measure(services, 1000, reports, connections)
        await measure(services, 100_000, reports / 4, connections)
      }
      if (kills > 0) await killAgain(services, kills)
      console.log(`\n${othersLine(shareOfOthers())}`)
    })
  },
}
