import { setTimeout as sleep } from 'node:timers/promises'

import { randomFrom } from '../../test/support/random.ts'
import { aVisit, createRecount, type Visit } from './audience.ts'
import { sendAll } from './client.ts'
import { bench, compare, createTracks, line, pathsOf, type Services, SESSIONS } from './services.ts'

/** Kills the Worker again and again while it receives reports, which are sent until they are acknowledged. */
export async function killAgain(services: Services, kills: number) {
  let workerd = await services.start()
  const library = await createTracks(services, workerd, 100)
  const paths = await pathsOf(workerd, library, 0)
  const random = randomFrom(11)
  const recount = createRecount()
  let [killed, acknowledged, repeated] = [0, 0, 0]
  const visits: { visit: Visit; next: number; path: string }[] = []
  const isOver = () => killed >= kills
  const queue: (typeof visits)[number][] = []
  const take = () => queue.shift() ?? (isOver() ? undefined : newVisit())
  const newVisit = () => {
    const entry = { visit: aVisit(random, library.ids), next: 0, path: paths[visits.length % SESSIONS]! }
    // Pages report more seconds only as time passes, so each visit has one listen here, in three reports.
    entry.visit.listens = entry.visit.listens
      .slice(0, 1)
      .map((listen) => ({ track: listen.track, ranges: [[0, 20 + Math.floor(random() * 20)]] }))
    visits.push(entry)
    return entry
  }
  const bodyOf = ({ visit, next }: (typeof visits)[number]) => {
    const [{ track, ranges }] = visit.listens as [Visit['listens'][number]]
    const until = ranges[0]![1] - (2 - next) * 5
    return JSON.stringify({
      visit: visit.id,
      sequence: next + 1,
      age: 30 + next,
      first: 0,
      listens: [{ track, ranges: [[0, until]] }],
    })
  }
  const kill = async () => {
    while (!isOver()) {
      await sleep(300 + random() * 1200)
      const isFolding = killed % 4 === 3
      if (isFolding)
        void bench(workerd, { organization: library.organization_id, method: 'fold' }).catch(() => undefined)
      process.kill(workerd.pid, 'SIGKILL')
      killed++
      await workerd.stop()
      workerd = await services.start()
      console.error(`killed ${killed} of ${kills}; ${acknowledged} reports acknowledged`)
    }
  }
  const work = async () => {
    while (!isOver() || queue.length > 0) {
      const open = new Set<(typeof visits)[number]>()
      const statuses = await sendAll(workerd.url('0'), 100, () => {
        const entry = take()
        if (!entry) return undefined
        open.add(entry)
        return {
          path: entry.path,
          body: bodyOf(entry),
          done: () => {
            open.delete(entry)
            acknowledged++
            if (++entry.next < 3) queue.push(entry)
          },
        }
      })
      // Reports without a response may have been stored. They are sent again, as by a page.
      repeated += open.size
      queue.push(...open)
      if (statuses.has(null)) await sleep(100)
    }
  }
  await Promise.all([kill(), work()])
  for (const { visit } of visits) recount.add(visit)
  const { differences } = await compare(workerd, library, recount, 0)
  await workerd.stop()
  console.log(
    `\n${kills} times kill -9: ${acknowledged.toLocaleString('en')} reports acknowledged, ${repeated} sent again`,
  )
  line('reports lost or counted twice', differences.slice(0, 5).join('; ') || '0', differences.length === 0)
}
