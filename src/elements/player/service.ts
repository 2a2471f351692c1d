import { type Client, createClient, type Failure } from '../../client/index.ts'
import type { Success } from '../../client/types.ts'
import type { playOperations } from '../../contract/play.ts'
import { lifetime } from './lifetime.ts'

/** Where the player's data comes from: a session that somebody created, or a key to create sessions with, or both. */
export interface Source {
  base_url: string
  play_session_id: string | null
  api_key: string | null
  scope: string | null
  resource_id: string | null
  /** Asked for when a session is created. */
  variants: string[]
  is_downloadable: boolean
  normalize: boolean
  /** Seconds that a created session lives; the service's default without it. */
  expires_in: number | null
}

export type Session = Pick<Success<(typeof playOperations)['playSession']>, 'play_session' | 'tracks' | 'first_track'>
export type View = Omit<Success<(typeof playOperations)['playTrack']>, 'ok' | 'api_request_id'>
export type SessionTrack = Session['tracks'][number]

/** A play view and when its URLs end, by this machine's clock. */
export interface Timed {
  view: View
  until: number
}
type Answer<T> = (T & { ok: true }) | Failure

interface Told {
  /** A session was opened, or another one took its place. */
  onSession: (session: Session, renewed: boolean) => void
  onRefresh: (view: View) => void
}

/** A view whose URLs end this soon and no later than those of the view before it shows that the session is about to end. */
const SOON = 65_000
const LEAST_GAIN = 5000
/** Milliseconds for which a URL must still be good when it is handed out. */
const MARGIN = 3000

export type Service = ReturnType<typeof createService>

/** The service as a player sees it: play views that are fresh when they are asked for, and sessions that renew themselves. */
export function createService(source: Source, { onSession, onRefresh }: Told, signal: AbortSignal) {
  const client = createClient({
    base_url: source.base_url,
    ...(source.api_key !== null && { api_key: source.api_key }),
  })
  const views = new Map<string, Timed>()
  let session_id = source.play_session_id
  let renewing: Promise<Answer<Session>> | null = null
  const canRenew = Boolean(source.api_key && source.scope && source.resource_id)
  const look = (id: string) => client.get('/v1/play/{play_session_id}', { params: { play_session_id: id }, signal })
  /** Whether an answer about a session says that it is no more: 410 for a day after its end, then 404 for its id. */
  const isOver = ({ code }: Failure) => code === 'session_expired' || code === 'not_found'

  function keep(view: View): Timed {
    const timed = { view, until: Date.now() + lifetime(view) }
    views.set(view.track_id, timed)
    return timed
  }

  function accept(session: Session, renewed: boolean): Session & { ok: true } {
    session_id = session.play_session.id
    views.clear()
    if (session.first_track) {
      const { first_track, play_session } = session
      keep({ ...first_track, play_session, play_session_id: play_session.id })
    }
    onSession(session, renewed)
    return { ...session, ok: true }
  }

  /** Opens the session that was given, or a new one. */
  async function open(): Promise<Answer<Session>> {
    if (session_id === null) return await renew(false)
    const answer = await look(session_id)
    if (answer.ok) return accept(answer, false)
    return isOver(answer) && canRenew ? await renew(true) : answer
  }

  /** Creates a session in place of the one that ended; several who need one at once get the same. */
  function renew(renewed: boolean): Promise<Answer<Session>> {
    renewing ??= create(client, source, signal)
      .then((answer) => (answer.ok ? accept(answer, renewed) : answer))
      .finally(() => (renewing = null))
    return renewing
  }

  async function read(track_id: string): Promise<Answer<Timed>> {
    const params = { play_session_id: session_id ?? '', play_track_id: track_id }
    const answer = await client.get('/v1/play/{play_session_id}/{play_track_id}', { params, signal })
    return answer.ok ? { ok: true, ...keep(answer) } : answer
  }

  /** Whether something in a session failed because there is no such session; a 404 may also be that of a track which was deleted. */
  async function isGone(failure: Failure, id: string | null): Promise<boolean> {
    if (failure.code !== 'not_found' || id === null) return failure.code === 'session_expired'
    const session = await look(id)
    return !session.ok && isOver(session)
  }

  /** Does something with the session, and once more with a new one when the session turns out to have ended. */
  async function inSession<T>(act: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const id = session_id
    const answer = await act()
    if (answer.ok || !(await isGone(answer, id))) return answer
    if (!canRenew) return { ...answer, code: 'session_expired' }
    const renewed = await renew(true)
    return renewed.ok ? await act() : renewed
  }

  /** The play view of a track, with URLs that are good for a while yet. */
  async function view(track_id: string): Promise<Answer<Timed>> {
    const known = views.get(track_id)
    return known && known.until - MARGIN > Date.now() ? { ok: true, ...known } : await refresh(track_id)
  }

  /** A new play view; of a new session when the old one is about to end and there is a key to open another with. */
  async function refresh(track_id: string): Promise<Answer<Timed>> {
    const before = views.get(track_id)?.until ?? 0
    const answer = await inSession(() => read(track_id))
    if (!answer.ok) return answer
    const ending = answer.until - Date.now() < SOON && answer.until - before < LEAST_GAIN
    const better = ending && canRenew ? await renew(true).then(() => read(track_id)) : answer
    if (better.ok) onRefresh(better.view)
    return better
  }

  const download = (track_id: string, variant_index: string) =>
    inSession(() => {
      const params = { play_session_id: session_id ?? '', play_track_id: track_id, variant_index }
      return client.get('/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download', { params, signal })
    })

  return { open, view, refresh, download }
}

const ANALYSIS = 'analysis'

async function create(client: Client, source: Source, signal: AbortSignal): Promise<Answer<Session>> {
  const { scope, resource_id, variants, is_downloadable, normalize, expires_in } = source
  if (!source.api_key || !scope || !resource_id) {
    const message = 'Set play-session-id, or api-key with scope and resource-id'
    return { ok: false, message, code: 'invalid_request', status: 400 }
  }
  const open = (names: string[]) =>
    client.post('/v1/play_session/{scope}', {
      params: { scope: scope as 'track' },
      body: {
        [`${scope}_id`]: resource_id,
        is_downloadable,
        ...(names.length > 0 && { variants: names }),
        ...(expires_in !== null && { expires_in }),
      },
      signal,
    })
  const session = await open(variants)
  if (!session.ok || !normalize || session.play_session.variants.includes(ANALYSIS)) return session
  // Which variants the service plays by itself is known only now. A key that does not allow the analysis plays without it.
  const withAnalysis = await open([...session.play_session.variants, ANALYSIS])
  return withAnalysis.ok ? withAnalysis : session
}
