import { type Client, createClient } from '../client.ts'
import { type Failure, noAnswer, readFailure } from '../retry.ts'
import { ANALYSIS, isSessionOver, lifetime, type Refusal } from './policy.ts'
import type { PlayView, Session, Source, TimedView } from './state.ts'

type Answer<T> = (T & { ok: true }) | Failure

interface Callbacks {
  /** A session was opened, or another one took its place. */
  onSession: (session: Session, renewed: boolean) => void
  onRefresh: (view: PlayView) => void
}

/** A view whose URLs end this soon and no later than those of the view before it shows that the session is about to end. */
const SOON = 65_000
const LEAST_GAIN = 5000
/** Milliseconds for which a URL must still be good when it is handed out. */
const MARGIN = 3000

/** The service as a player sees it: play views that are fresh when they are asked for, and sessions that renew themselves. */
export class SessionClient {
  readonly #source: Source
  readonly #callbacks: Callbacks
  readonly #signal: AbortSignal
  readonly #client: Client
  readonly #views = new Map<string, TimedView>()
  #id: string | null
  #renewing: Promise<Answer<Session>> | null = null

  constructor(source: Source, callbacks: Callbacks, signal: AbortSignal) {
    const { baseUrl, apiKey, playSessionId } = source
    this.#source = source
    this.#callbacks = callbacks
    this.#signal = signal
    this.#client = createClient({ base_url: baseUrl, ...(apiKey !== null && { api_key: apiKey }) })
    this.#id = playSessionId
  }

  get #canRenew(): boolean {
    const { apiKey, scope, resourceId } = this.#source
    return Boolean(apiKey && scope && resourceId)
  }

  /** Opens the session that was given, or a new one. */
  async open(): Promise<Answer<Session>> {
    if (this.#id === null) return await this.#renew(false)
    const answer = await this.#look(this.#id)
    if (answer.ok) return this.#accept(answer, false)
    return isSessionOver(answer) && this.#canRenew ? await this.#renew(true) : answer
  }

  /** The play view of a track, with URLs that are good for a while yet. */
  async view(trackId: string): Promise<Answer<TimedView>> {
    const known = this.#views.get(trackId)
    return known && known.until - MARGIN > Date.now() ? { ok: true, ...known } : await this.refresh(trackId)
  }

  /** A new play view; of a new session when the old one is about to end and there is a key to open another with. */
  async refresh(trackId: string): Promise<Answer<TimedView>> {
    const before = this.#views.get(trackId)?.until ?? 0
    const read = () => this.#read(trackId)
    const answer = await this.#inSession(read)
    if (!answer.ok) return answer
    const isEnding = answer.until - Date.now() < SOON && answer.until - before < LEAST_GAIN
    const better = isEnding && this.#canRenew ? await this.#renew(true).then(read) : answer
    if (better.ok) this.#callbacks.onRefresh(better.view)
    return better
  }

  /** A URL that saves a file. */
  download(trackId: string, variant_index: string) {
    return this.#inSession(() => {
      const params = { play_session_id: this.#id ?? '', play_track_id: trackId, variant_index }
      const path = '/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download'
      return this.#client.get(path, { params, signal: this.#signal })
    })
  }

  #look(play_session_id: string) {
    return this.#client.get('/v1/play/{play_session_id}', { params: { play_session_id }, signal: this.#signal })
  }

  async #read(play_track_id: string): Promise<Answer<TimedView>> {
    const params = { play_session_id: this.#id ?? '', play_track_id }
    const answer = await this.#client.get('/v1/play/{play_session_id}/{play_track_id}', {
      params,
      signal: this.#signal,
    })
    return answer.ok ? { ok: true, ...this.#keep(answer) } : answer
  }

  #keep(view: PlayView): TimedView {
    const timed = { view, until: Date.now() + lifetime(view) }
    this.#views.set(view.track_id, timed)
    return timed
  }

  #accept(session: Session, renewed: boolean): Session & { ok: true } {
    const { first_track, play_session } = session
    this.#id = play_session.id
    this.#views.clear()
    if (first_track) this.#keep({ ...first_track, play_session, play_session_id: play_session.id })
    this.#callbacks.onSession(session, renewed)
    return { ...session, ok: true }
  }

  /** Creates a session in place of the one that ended; several who need one at once get the same. */
  #renew(renewed: boolean): Promise<Answer<Session>> {
    this.#renewing ??= create(this.#client, this.#source, this.#signal)
      .then((answer) => (answer.ok ? this.#accept(answer, renewed) : answer))
      .finally(() => (this.#renewing = null))
    return this.#renewing
  }

  /** Whether something in a session failed because there is no such session; a 404 may also be that of a track which was deleted. */
  async #isGone(failure: Failure, id: string | null): Promise<boolean> {
    if (failure.code !== 'not_found' || id === null) return failure.code === 'session_expired'
    const session = await this.#look(id)
    return !session.ok && isSessionOver(session)
  }

  /** Does something with the session, and once more with a new one when the session turns out to have ended. */
  async #inSession<T>(act: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const id = this.#id
    const answer = await act()
    if (answer.ok || !(await this.#isGone(answer, id))) return answer
    if (!this.#canRenew) return { ...answer, code: 'session_expired' }
    const renewed = await this.#renew(true)
    return renewed.ok ? await act() : renewed
  }
}

/** Milliseconds; the storage answers a request for one byte sooner, or not at all. */
const STORAGE_TIMEOUT = 10_000

/** Why the storage does not deliver a file, asked for its first byte; null when it does. The status is 0 without an answer that can be read. */
export async function storageFault(url: string): Promise<Refusal | null> {
  try {
    const { ok, status, headers, body } = await fetch(url, {
      headers: { range: 'bytes=0-0' },
      // The browser's cache may have that byte.
      cache: 'no-store',
      signal: AbortSignal.timeout(STORAGE_TIMEOUT),
    })
    void body?.cancel()
    return ok ? null : { ...readFailure(status, null), wait: Number(headers.get('retry-after')) * 1000 || 0 }
  } catch {
    return noAnswer(false)
  }
}

async function create(client: Client, source: Source, signal: AbortSignal): Promise<Answer<Session>> {
  const { apiKey, scope, resourceId, variants, isDownloadable, normalize, expiresIn } = source
  if (!apiKey || !scope || !resourceId) {
    const message = 'Set playSessionId, or apiKey, scope and resourceId'
    return { ok: false, message, code: 'invalid_request', status: 400 }
  }
  const open = (names: string[]) =>
    client.post('/v1/play_session/{scope}', {
      params: { scope: scope as 'track' },
      body: {
        [`${scope}_id`]: resourceId,
        is_downloadable: isDownloadable,
        ...(names.length > 0 && { variants: names }),
        ...(expiresIn !== null && { expires_in: expiresIn }),
      },
      signal,
    })
  const session = await open(variants)
  if (!session.ok || !normalize || session.play_session.variants.includes(ANALYSIS)) return session
  // Which variants the service plays by itself is known only now. A key that does not allow the analysis plays without it.
  const withAnalysis = await open([...session.play_session.variants, ANALYSIS])
  return withAnalysis.ok ? withAnalysis : session
}
