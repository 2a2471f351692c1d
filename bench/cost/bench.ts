import { parseArgs } from 'node:util'

import { LOGGED_SHARE, MAX_VIEWS } from '../../src/contract/facts.ts'
import { DAY } from '../../src/contract/time.ts'
import { type Item, OPERATIONS_PER_MESSAGE, PRICES, type Use } from '../prices.ts'
import { threadSeconds } from '../process.ts'
import { config } from '../worker/app.ts'
import { withCleanup } from '../worker/cleanup.ts'
import { type Counts, listen } from '../worker/meter.ts'
import {
  createCollection,
  createReadyTrack,
  createSession,
  createShare,
  createSigner,
  createTenant,
  copyRows,
  renewSession,
  viewsPath,
} from '../worker/seed.ts'
import { startSystem, type System } from '../worker/system.ts'
import { listeningBills } from './listening.ts'
import { lists, SIZES } from './lists.ts'

const HELP = `npm run bench -- cost [--json]

Computes the cost of 1,000,000 plays and 1,000 uploads: counts rows, requests and operations of one of each, and multiplies them by list
prices. Then counts the rows that lists read and changes write. Linux only. CPU times are this machine's.`

/** Assumed values that this bench cannot measure. */
const ASSUMED = {
  /** New sessions per play, for a collection of 100 tracks: most plays reuse a session. */
  sessions_per_play: 0.2,
  /** Tracks that a listener hears in a row, as an album: the player requests five play views at once (docs/decisions/0086). */
  tracks_in_a_row: 10,
  /** Files that a play requests: the audio with one range request, and a cover. */
  files_per_play: 2,
  /** Share of these requests that the cache of a domain for files answers (docs/decisions/0088). */
  cached: 0.93,
  /** Number of status requests for a track until it is ready. */
  status_per_upload: 5,
  /** Seconds that the container, with all its vCPUs, needs to transcode four minutes of music. */
  work: 10.5,
  /** Gigabytes of all variants of four minutes of music, which the container sends to R2. */
  variants: 0.0104,
  /** Memory in GB of a Durable Object, which exists until its container stops. */
  object: 0.128,
  /** Alarms and requests of a Durable Object per job. */
  calls: 5,
  /** Seconds until an idle container stops (`src/adapters/transcoder/client.ts`). */
  idle: 60,
}
/** Some rows are written once an hour, however many sessions there are, so their share falls with this number. */
const REPEATS = 400

/** Computes costs from counted runs and list prices. */
export const cost = {
  about: 'what 1,000,000 plays and 1,000 uploads cost, from counted runs and list prices',
  async run(args: string[]): Promise<void> {
    const options = { help: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    await withCleanup(async () => {
      const system = await startSystem()
      console.error('counting …')
      const bills = { ...(await plays(system)), ...(await listeningBills()), ...(await uploads(system)) }
      const rows = await lists(system)
      if (values.json) return console.log(JSON.stringify({ assumed: ASSUMED, bills, rows }, null, 2))
      console.log([...Object.entries(bills).map(bill), assumed, ''].join('\n'))
      console.log([...table('Rows read', rows.read), '', ...table('Rows written', rows.written)].join('\n'))
    })
  },
}

type Counted = Counts & { cpu: number }

/** Runs a function and counts the Worker's operations and CPU milliseconds in the meantime. */
async function count(system: System, run: () => Promise<unknown>): Promise<Counted> {
  const before = threadSeconds(system.pid)
  const counts = await system.meter.during(run)
  return { ...counts, cpu: (threadSeconds(system.pid) - before) * 1000 }
}

/** Every request writes one line of the log, except most of those of listeners. */
const use = ({ read, written, a, b, messages, cpu }: Counted, requests: number, lines = requests): Use => ({
  'Workers requests': requests,
  'Workers Logs lines': lines,
  'Workers CPU, ms': cpu,
  'D1 rows read': read,
  'D1 rows written': written,
  'R2 class A': a,
  'R2 class B': b,
  'Queue operations': messages * OPERATIONS_PER_MESSAGE,
})

const assumed = `Assumed per play: ${ASSUMED.sessions_per_play} sessions of 100 tracks and ${ASSUMED.files_per_play} files, with every session and track uncached. A listener hears
${ASSUMED.tracks_in_a_row} tracks in a row, whose play views take ${ASSUMED.tracks_in_a_row / MAX_VIEWS} requests. All files come from R2,
or ${ASSUMED.cached * 100} % of them from the cache of a domain. The cache costs nothing; the plan of the domain's zone is not included.
Per upload: ${ASSUMED.work} s of work, ${ASSUMED.status_per_upload} status requests, and a container that sleeps after ${ASSUMED.idle} s.`

/** Returns the sum of several uses, each multiplied by a factor. */
function sum(...parts: [times: number, use: Use][]): Use {
  const total: Use = {}
  for (const [times, part] of parts) {
    for (const [item, amount] of Object.entries(part) as [Item, number][]) {
      total[item] = (total[item] ?? 0) + times * amount
    }
  }
  return total
}

/** Counts sessions and their play views, which are not cached: the most expensive case. */
async function plays(system: System) {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  const track_id = await createReadyTrack(system, tenant, collection_id, 1)
  const tracks = [track_id, ...(await copyRows(system, track_id, 99))]
  const create = () => createSession(system, tenant, 'collection', collection_id)
  const sign = await createSigner(system, tenant, collection_id)
  const { slug, visit } = await createShare(system, tenant, collection_id)
  for (const id of [await create(), await sign(), await visit(), await renewSession(system, slug, collection_id)])
    await system.call('GET', viewsPath(id))
  await system.sweep(2 * DAY)

  const { files_per_play, cached, sessions_per_play, tracks_in_a_row } = ASSUMED
  // Players open a session without `from`.
  const starts = Array.from({ length: tracks_in_a_row / MAX_VIEWS }, (_, at) =>
    at === 0 ? undefined : tracks[at * MAX_VIEWS],
  )
  const share = 1 / REPEATS
  /** Counts the plays in sessions that `open` opens with `requests` each. */
  const playsOf = async (open: (at: number) => Promise<string>, requests: number) => {
    const ids: string[] = []
    const opened = await count(system, async () => {
      for (let at = 0; at < REPEATS; at++) ids.push(await open(at))
    })
    const viewed = await count(system, async () => {
      for (const id of ids) for (const from of starts) await system.call('GET', viewsPath(id, from))
    })
    const swept = await count(system, () => system.sweep(2 * DAY))
    const views = REPEATS * starts.length
    return (reads: number) =>
      sum(
        [
          sessions_per_play * share,
          sum(
            [1, use(opened, REPEATS * requests, REPEATS * requests * LOGGED_SHARE)],
            [1, { ...use(swept, 0), 'Workers CPU, ms': 0 }],
          ),
        ],
        [share / tracks_in_a_row, use(viewed, views, views * LOGGED_SHARE)],
        [reads, { 'R2 class B': 1 }],
      )
  }
  const created = await playsOf(create, 1)
  const signed = await playsOf(sign, 0)
  // Every other session is a renewal.
  const shared = await playsOf(async (at) => (at % 2 === 0 ? visit() : renewSession(system, slug, collection_id)), 1)
  const fromDomain = files_per_play * (1 - cached)
  return {
    '1,000,000 plays in sessions that a server creates': sum([1_000_000, created(files_per_play)]),
    '… from a domain for files': sum([1_000_000, created(fromDomain)]),
    '1,000,000 plays in signed sessions, from a domain for files': sum([1_000_000, signed(fromDomain)]),
    '1,000,000 plays of a share, from a domain for files': sum([1_000_000, shared(fromDomain)]),
  }
}

/**
 * Counts the operations for an upload of four minutes of music and for its cleanup a week later, and the requests to a webhook receiver.
 */
async function countUpload(
  system: System,
  tenant: Awaited<ReturnType<typeof createTenant>>,
  receiver = { requests: 0 },
) {
  const collection_id = await createCollection(system, tenant)
  await createReadyTrack(system, tenant, collection_id, 1)
  await system.sweep(8 * DAY)
  const before = { ...system.transcoder.made, ...receiver }
  let id = ''
  const counted = await count(system, async () => {
    id = await createReadyTrack(system, tenant, collection_id, ASSUMED.work)
  })
  const status = await count(system, () => system.call('GET', `/v1/track/${id}`, tenant.key))
  const swept = await count(system, () => system.sweep(8 * DAY))
  return sum(
    // Two requests are billed: `POST /v1/track` and the last status request. The bench delivers R2's event itself, so its message is added
    // here.
    [1, use({ ...counted, messages: counted.messages + 1 }, 2)],
    [ASSUMED.status_per_upload - 1, use(status, 1)],
    [1, { ...use(swept, 0), 'Workers CPU, ms': 0 }],
    [1, { 'R2 class A': 1 + system.transcoder.made.files - before.files }],
    [1, { 'R2 class B': system.transcoder.made.sources - before.sources }],
    [1, { 'Requests to receivers': receiver.requests - before.requests }],
  )
}

async function uploads(system: System) {
  const tenant = await createTenant(system)
  const upload = await countUpload(system, tenant)
  const receiver = { requests: 0 }
  const url = await listen(async (_request, _body, response) => {
    receiver.requests++
    response.end()
  })
  await system.call('POST', '/v1/webhook_endpoint', tenant.key, { url })
  const withWebhook = await countUpload(system, tenant, receiver)
  const { vcpu, memory_mib, disk_mb } = config.containers[0]!.instance_type
  const container = (seconds: number): Use => ({
    'Durable Object requests': ASSUMED.calls,
    'Durable Object GB s': seconds * ASSUMED.object,
    'Container egress, GB': ASSUMED.variants,
    'Container CPU, vCPU s': ASSUMED.work * vcpu,
    'Container memory, GiB s': (seconds * memory_mib) / 1024,
    'Container disk, GB s': (seconds * disk_mb) / 1000,
  })
  return {
    '1,000 uploads, one after the other': sum([1000, upload], [1000, container(ASSUMED.work)]),
    '1,000 uploads, with all events sent to a webhook endpoint': sum(
      [1000, withWebhook],
      [1000, container(ASSUMED.work)],
    ),
    '1,000 uploads, each alone': sum([1000, upload], [1000, container(ASSUMED.work + ASSUMED.idle)]),
  }
}

/** Formats counts as rows of text, with one column per number of tracks. */
const table = (what: string, counts: Record<string, number[]>) =>
  Object.entries({ [`${what}, by tracks:`]: SIZES, ...counts }).map(
    ([name, numbers]) => name.padEnd(72) + numbers.map((number) => number.toLocaleString('en').padStart(9)).join(''),
  )

/** Formats a use as a bill: one line per item, with the most expensive item first. */
function bill([name, amounts]: [string, Use]): string {
  const lines = (Object.entries(amounts) as [Item, number][])
    .map(([item, amount]) => ({ item, amount, dollars: amount * PRICES[item] }))
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => b.dollars - a.dollars)
  const total = lines.reduce((all, { dollars }) => all + dollars, 0)
  return [
    `${name}: $${total.toFixed(2)}, of which ${lines[0]!.item} ${((lines[0]!.dollars / total) * 100).toFixed(0)} %`,
    ...lines.map(
      ({ item, amount, dollars }) =>
        `  ${item.padEnd(24)}${Math.round(amount).toLocaleString('en').padStart(14)}  $${dollars.toFixed(3)}`,
    ),
    '',
  ].join('\n')
}
