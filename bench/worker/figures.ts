import { median } from '../statistics.ts'
import { startApp, startPlain } from './app.ts'
import { bundleScript, gzippedSize } from './bundle.ts'
import {
  countAudience,
  countCreate,
  countSessionLifecycle,
  countLists,
  countReady,
  countSweep,
  countViews,
  countWarm,
  pairViews,
} from './counted.ts'
import { firstRequestsOf } from './first_requests.ts'
import { type Ratio, runRounds, type Target } from './load.ts'
import {
  createCollection,
  createReadyTrack,
  createSession,
  createSigner,
  createTenant,
  copyRows,
  requireView,
  viewPath,
} from './seed.ts'
import { startUp } from './startup.ts'
import type { System } from './system.ts'
import type { Workerd } from './workerd.ts'

/** The parts of the bench and their goals. */

export type Plan = {
  rounds: number
  /** Approximate duration of a target's turn in a round, in seconds. */
  seconds: number
  /** Number of processes to start for each kind of a first request, with 20 isolates each. */
  starts: number
  /** Number of views that each have a new session and a new track. */
  cold: number
  /** Number of listeners of a share, half of whom open its page and half its frame. */
  audience: number
  /** Number of tracks in the collection for which the pages of lists are counted. */
  tracks: number
}

export type Figure = { name: string; value: string; goal: string; met: boolean }
type Part = (system: System, plan: Plan, say: (text: string) => void) => Promise<Figure[]>

export function formatNumber(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}

function atMost(name: string, value: number, goal: number, unit = ''): Figure {
  return {
    name,
    value: `${formatNumber(value)}${unit}`,
    goal: `≤ ${goal.toLocaleString('en')}${unit}`,
    met: value <= goal,
  }
}

/** A figure that is compared by a reader. `npm run check` has the ceilings of sizes. */
const withoutGoal = (name: string, value: number, unit: string): Figure => ({
  name,
  value: `${formatNumber(value)}${unit}`,
  goal: '',
  met: true,
})

function ratioFigure(name: string, { value, interval }: Ratio, goal: number, direction: '≤' | '≥' = '≤'): Figure {
  const shown = `${formatNumber(value)}× [${interval.map(formatNumber).join('–')}]`
  return { name, value: shown, goal: `${direction} ${goal}×`, met: direction === '≤' ? value <= goal : value >= goal }
}

async function plainHono(): Promise<Target> {
  const plain = await startPlain(await bundleScript('plain_hono.ts'))
  return { name: 'Hono', workerd: plain, path: '/' }
}

export type RequestSpec = Omit<Target, 'name' | 'workerd'>

/** Starts a separate process for a target, so that no target benefits from the cache of another. */
export async function startTarget(
  system: System,
  name: string,
  spec: RequestSpec,
  bundle = system.bundle,
): Promise<Target> {
  const workerd = await startApp(bundle, system.addresses)
  return { name, workerd, ...spec, prepare: () => spec.prepare?.(workerd) }
}

/** Numbers of sessions and tracks. Each pair of a session and a track is requested once. */
const PAIRED = { sessions: 200, tracks: 100 }
const COUNTED = 20

/** Sets up three kinds of play views: repeated, with a cached session and track, and uncached. */
export async function viewsOf(system: System, { cold: amount }: Plan, say: (text: string) => void) {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  const warm_id = await createReadyTrack(system, tenant, collection_id, 1)
  const cold_id = await createReadyTrack(system, tenant, collection_id, 1)
  const warm_session = await createSession(system, tenant, 'collection', collection_id)
  const cold_session = await createSession(system, tenant, 'collection', collection_id)
  say(`copying ${amount} sessions and tracks …`)
  const views = pairViews(
    await copyRows(system, warm_session, PAIRED.sessions),
    await copyRows(system, warm_id, PAIRED.tracks),
  )
  const cold_tracks = await copyRows(system, cold_id, amount)
  const cold = (await copyRows(system, cold_session, amount)).map((session, at) => viewPath(session, cold_tracks[at]!))
  const warm = viewPath(warm_session, warm_id)
  await requireView(system, warm)
  await requireView(system, cold[0]!)
  const warmCache = async (workerd: Workerd) => {
    for (const path of views.cached) await (await fetch(`${workerd.url('0')}${path}`)).arrayBuffer()
  }
  return {
    views,
    requests: { warm: { path: warm }, cached: { path: views.uncached, prepare: warmCache }, cold: { path: cold } },
  }
}

const play: Part = async (system, plan, say) => {
  const { views, requests } = await viewsOf(system, plan, say)
  const counts = {
    warm: await countWarm(system, requests.warm.path),
    cached: await countViews(system, views.uncached.slice(0, COUNTED), views.cached),
    cold: await countViews(system, requests.cold.path.slice(-COUNTED)),
  }
  const targets = [await plainHono()]
  for (const [name, spec] of Object.entries(requests)) targets.push(await startTarget(system, name, spec))
  const ratios = await runRounds(targets, plan.rounds, plan.seconds, say)
  return [
    ratioFigure('play view, warm: CPU', ratios('warm').cpu, 1.2),
    ratioFigure('play view, warm: throughput', ratios('warm').rate, 0.85, '≥'),
    atMost('play view, warm: D1 trips', counts.warm.trips, 0),
    ratioFigure('play view, session and track known: CPU', ratios('cached').cpu, 5),
    atMost('play view, session and track known: D1 trips', counts.cached.trips, 0),
    ratioFigure('play view, cold: CPU', ratios('cold').cpu, 10),
    atMost('play view, cold: D1 trips', counts.cold.trips, 1),
    atMost('play view, cold: rows read', counts.cold.read, 4),
  ]
}

/** Compares play views of signed sessions with those of rows, with new sessions and tracks and with repeated ones. */
const signed: Part = async (system, { cold: amount, rounds, seconds, audience }, say) => {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  const track_id = await createReadyTrack(system, tenant, collection_id, 1)
  const session_id = await createSession(system, tenant, 'collection', collection_id)
  const sign = await createSigner(system, tenant, collection_id)
  say(`copying and signing ${amount} sessions …`)
  const tracks = await copyRows(system, track_id, amount)
  const rows = await copyRows(system, session_id, amount)
  const tokens = await Promise.all(tracks.map(sign))
  const pathsOf = (ids: string[]) => ids.map((id, at) => viewPath(id, tracks[at]!))
  const compare = async (row: RequestSpec, token: RequestSpec) => {
    const targets = [await startTarget(system, 'row', row), await startTarget(system, 'signed', token)]
    return (await runRounds(targets, rounds, seconds, say))('signed').cpu
  }
  const counts = await countViews(system, pathsOf(tokens).slice(-COUNTED))
  say(`${audience} listeners …`)
  const written = await countAudience(system, tenant, audience)
  const cold = await compare({ path: pathsOf(rows) }, { path: pathsOf(tokens) })
  const warm = await compare({ path: viewPath(session_id, track_id) }, { path: viewPath(await sign(), track_id) })
  return [
    ratioFigure('signed play view, warm: CPU compared with a row', warm, 1.1),
    ratioFigure('signed play view, cold: CPU compared with a row', cold, 1.1),
    atMost('signed play view, cold: D1 trips', counts.trips, 1),
    atMost('signed play view, cold: rows read', counts.read, 7),
    atMost(
      `rows written by ${audience.toLocaleString('en')} listeners of a share's page and of its frame, with renewals`,
      written,
      0,
    ),
  ]
}

/** Number of tracks in the sessions of `view`. */
const LISTED = 20

/** Sets up views of sessions with 20 tracks, none of which has been requested before. */
export async function sessionsOf(system: System, { cold: amount }: Plan) {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  await copyRows(system, await createReadyTrack(system, tenant, collection_id, 1), LISTED - 1)
  const session = await createSession(system, tenant, 'collection', collection_id)
  return (await copyRows(system, session, amount)).map((id) => `/v1/play/${id}`)
}

const view: Part = async (system, plan, say) => {
  const paths = await sessionsOf(system, plan)
  const counts = await countViews(system, paths.slice(-COUNTED))
  const targets = [await plainHono(), await startTarget(system, 'session', { path: paths })]
  const ratios = await runRounds(targets, plan.rounds, plan.seconds, say)
  return [
    ratioFigure('GET session of 20 tracks, cold: CPU', ratios('session').cpu, 17),
    atMost('GET session of 20 tracks, cold: D1 trips', counts.trips, 1),
    atMost('GET session of 20 tracks, cold: rows read', counts.read, 50),
  ]
}

/** Returns a request to `POST /v1/play_session`. */
export const sessionRequest = (key: string, scope: 'track' | 'collection', id: string): RequestSpec => ({
  path: `/v1/play_session/${scope}`,
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ [`${scope}_id`]: id, expires_in: 3600 }),
})

const create: Part = async (system, plan, say) => {
  const tenant = await createTenant(system)
  const [small, large] = [await createCollection(system, tenant), await createCollection(system, tenant)]
  const track_id = await createReadyTrack(system, tenant, small, 1)
  await copyRows(system, await createReadyTrack(system, tenant, large, 1), 999)
  const track = await countCreate(system, tenant, 'track', track_id)
  const collection = await countCreate(system, tenant, 'collection', large)
  const targets = [
    await plainHono(),
    await startTarget(system, '1 track', sessionRequest(tenant.key, 'track', track_id)),
    await startTarget(system, '1,000 tracks', sessionRequest(tenant.key, 'collection', large)),
  ]
  const ratios = await runRounds(targets, plan.rounds, plan.seconds, say)
  return [
    ratioFigure('POST play_session, 1 track: CPU', ratios('1 track').cpu, 25),
    atMost('POST play_session, 1 track: D1 trips', track.trips, 1),
    ratioFigure('POST play_session, 1,000 tracks: CPU', ratios('1,000 tracks').cpu, 100),
    atMost('POST play_session, 1,000 tracks: D1 trips', collection.trips, 1),
  ]
}

const sessions: Part = async (system, _plan, say) => {
  const tenant = await createTenant(system)
  const track_id = await createReadyTrack(system, tenant, await createCollection(system, tenant), 1)
  const life = await countSessionLifecycle(system, tenant, track_id)
  say('copying 1,000,000 sessions that have ended …')
  const sweep = await countSweep(system, tenant, track_id)
  const costs = `${formatNumber(sweep.read)} rows read, ${formatNumber(sweep.written)} written each; slowest statement ${formatNumber(sweep.slowest)} ms`
  return [
    atMost('rows written per session, made and swept', life, 2),
    atMost(`1,000,000 ended sessions gone (${costs})`, sweep.minutes, 10, ' min'),
  ]
}

const ready: Part = async (system, _plan, say) => {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  // The first track of a collection also creates the stored counts for its lists, so it is not measured.
  await createReadyTrack(system, tenant, collection_id, 1)
  say('following jobs of 10 s and of 3 min …')
  const [short, long] = [10, 180].map((seconds) => () => countReady(system, tenant, collection_id, seconds))
  return [
    atMost('rows written until a track is ready, 10 s of work', (await short!()).written, 52),
    atMost('rows written until a track is ready, 3 min of work', (await long!()).written, 70),
  ]
}

/** Maximum CPU milliseconds of the first request of an isolate, by its kind. */
const FIRST_GOALS = { 'play view': 8, signed: 10, session: 8, embed: 12, share: 12, cover: 8, report: 20 }

const start: Part = async (system, plan, say) => {
  const requests = await firstRequestsOf(system)
  say(`starting ${plan.starts * Object.keys(requests).length} times 20 isolates …`)
  const [{ starts, firsts } = { starts: [], firsts: {} }] = await startUp(
    [system.bundle],
    system.addresses,
    requests,
    plan.starts,
    say,
  )
  return [
    withoutGoal('start-up of an isolate: CPU', median(starts), ' ms'),
    withoutGoal('bundle, gzipped', gzippedSize(system.bundle), ' KB'),
    ...Object.entries(FIRST_GOALS).map(([kind, goal]) =>
      atMost(`first ${kind} of a fresh isolate: CPU`, median(firsts[kind]!), goal, ' ms'),
    ),
  ]
}

const lists: Part = async (system, plan, say) => {
  say(`copying ${plan.tracks.toLocaleString('en')} tracks …`)
  const pages = await countLists(system, await createTenant(system), plan.tracks)
  return [
    atMost('list of tracks, first page of 50: rows read', pages.first, 52),
    atMost('list of tracks, worst page: rows read', pages.worst, 854),
  ]
}

/** `lists` must be last, because it leaves uploads behind that a sweep would check. */
export const parts: Record<string, Part> = { play, signed, view, create, sessions, ready, start, lists }
