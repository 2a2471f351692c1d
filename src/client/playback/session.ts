import { type Client, createClient, type Path } from '../client.ts'
import { type Failure, noResponse, readFailure } from '../retry.ts'
import { ANALYSIS, isSessionOver, lifetime, type Refusal, VIEWS } from './policy.ts'
import type { PlaybackOptions, PlayView, Session, Source, TimedView } from './state.ts'

type Answer<T> = (T & { ok: true }) | Failure

interface Callbacks {
  /** Called when a session was opened. `renewed`: it replaces a session that has ended. */
  onSession: (session: Session, renewed: boolean) => void
  onRefresh: (answer: Pick<Session, 'play_session'>) => void
}

/**
 * Milliseconds. If the URLs of a fresh view expire within this time, and less than `MIN_EXTENSION` after the previous URLs, the session is
 * about to end.
 */
const SESSION_END_MARGIN = 65_000
const MIN_EXTENSION = 5000
/** Minimum milliseconds until the URLs of a cached play view expire; views whose URLs expire sooner are not used. */
const MARGIN = 3000

/** The player's interface to the service: returns play views with valid URLs, and renews sessions that have ended. */
export class SessionClient {
  readonly #source: Source
  readonly #options: Pick<PlaybackOptions, 'shuffle'>
  readonly #callbacks: Callbacks
  readonly #signal: AbortSignal
  readonly #client: Client
  readonly #views = new Map<string, TimedView>()
  #id: string | null
  #renewing: Promise<Answer<Session>> | null = null
  #reading: Promise<Answer<Session>> | null = null

  constructor(source: Source, options: Pick<PlaybackOptions, 'shuffle'>, callbacks: Callbacks, signal: AbortSignal) {
    const { baseUrl, apiKey, playSessionId } = source
    this.#source = source
    this.#options = options
    this.#callbacks = callbacks
    this.#signal = signal
    this.#client = createClient({ base_url: baseUrl, ...(apiKey !== null && { api_key: apiKey }) })
    this.#id = playSessionId
  }

  get #canRenew(): boolean {
    const { apiKey, scope, resourceId } = this.#source
    return Boolean(apiKey && scope && resourceId)
  }

  /** Opens the session that the page has or that the source names, or creates one. */
  async open(): Promise<Answer<Session>> {
    const { session } = this.#source
    this.#source.session = null
    if (session) return this.#accept(session, false)
    if (this.#id === null) return await this.#renew(false)
    const answer = await this.#readSession({ views: VIEWS })
    if (answer.ok) return this.#accept(answer, false)
    return isSessionOver(answer) && this.#canRenew ? await this.#renew(true) : answer
  }

  /**
   * Returns the play view of a track, from the cache if its URLs are still valid. A request for one that was never read also reads those of the
   * tracks that follow it in the list, unless the tracks are shuffled.
   */
  async view(trackId: string): Promise<Answer<TimedView>> {
    const find = () => this.#views.get(trackId)
    // The response that is on its way may contain this view.
    if (this.#reading && !find()) await this.#reading
    if (!find() && !this.#options.shuffle) {
      const act = () => this.#readSession({ views: VIEWS, from: trackId })
      this.#reading = this.#inSession(act).finally(() => (this.#reading = null))
      const answer = await this.#reading
      if (!answer.ok) return answer
      this.#cacheAll(answer)
      this.#callbacks.onRefresh(answer)
    }
    const cached = find()
    return cached && cached.until - MARGIN > Date.now() ? { ok: true, ...cached } : await this.refresh(trackId)
  }

  /** Returns a fresh play view. Creates a new session for it if the current session is about to end and the source has a key. */
  async refresh(trackId: string): Promise<Answer<TimedView>> {
    const previousUntil = this.#views.get(trackId)?.until ?? 0
    const read = () => this.#readView(trackId)
    const answer = await this.#inSession(read)
    if (!answer.ok) return answer
    const isEnding = answer.until - Date.now() < SESSION_END_MARGIN && answer.until - previousUntil < MIN_EXTENSION
    const newest = isEnding && this.#canRenew ? await this.#renew(true).then(read) : answer
    if (newest.ok) this.#callbacks.onRefresh(newest.view)
    return newest
  }

  /** Returns a download URL of a file. */
  download(play_track_id: string, variant_index: string) {
    const path = '/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download'
    return this.#inSession(() => this.#get(path, { play_track_id, variant_index }))
  }

  /** Reads something of the current session, or of the one that `params` names. */
  #get<const P extends Path<'get'>>(path: P, params: Record<string, string>, query = {}) {
    const options = { params: { play_session_id: this.#id, ...params }, query, signal: this.#signal }
    return this.#client.get(path, options as never)
  }

  #readSession(query = {}, params = {}) {
    return this.#get('/v1/play/{play_session_id}', params, query)
  }

  async #readView(play_track_id: string): Promise<Answer<TimedView>> {
    const answer = await this.#get('/v1/play/{play_session_id}/{play_track_id}', { play_track_id })
    return answer.ok ? { ok: true, ...this.#cache(answer) } : answer
  }

  #cache(view: PlayView): TimedView {
    const timed = { view, until: Date.now() + lifetime(view) }
    this.#views.set(view.track_id, timed)
    return timed
  }

  /** Caches the play views in a response, except for preliminary ones, which change soon. */
  #cacheAll({ views = [] }: Pick<Session, 'views'>): void {
    for (const view of views) if (!view.track.is_preliminary) this.#cache(view)
  }

  #accept(session: Session, renewed: boolean): Session & { ok: true } {
    const { first_track, play_session } = session
    this.#id = play_session.id
    this.#views.clear()
    this.#cacheAll(session)
    if (first_track) this.#cache({ ...first_track, play_session, play_session_id: play_session.id })
    this.#callbacks.onSession(session, renewed)
    return { ...session, ok: true }
  }

  /** Creates a session, to replace one that has ended if `renewed`. Concurrent callers share the new session. */
  #renew(renewed: boolean): Promise<Answer<Session>> {
    this.#renewing ??= create(this.#client, this.#source, this.#signal)
      .then((answer) => (answer.ok ? this.#accept(answer, renewed) : answer))
      .finally(() => (this.#renewing = null))
    return this.#renewing
  }

  /** Whether a call failed because its session has ended. A 404 can also mean that the track was deleted, so the session is read as well. */
  async #isGone(failure: Failure, id: string | null): Promise<boolean> {
    if (failure.code !== 'not_found' || id === null) return failure.code === 'session_expired'
    const session = await this.#readSession({}, { play_session_id: id })
    return !session.ok && isSessionOver(session)
  }

  /** Runs a call in the session. If the session has ended, renews it and runs the call again. */
  async #inSession<T>(act: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const id = this.#id
    const answer = await act()
    if (answer.ok || !(await this.#isGone(answer, id))) return answer
    if (!this.#canRenew) return { ...answer, code: 'session_expired' }
    const renewed = await this.#renew(true)
    return renewed.ok ? await act() : renewed
  }
}

/** Milliseconds without a response after which a request for one byte counts as failed. */
const STORAGE_TIMEOUT = 10_000

/**
 * Requests the first byte of a file from the storage. Resolves to null if it arrives, otherwise to the refusal, with status 0 if there is no
 * readable response.
 */
export async function storageFault(url: string): Promise<Refusal | null> {
  try {
    const { ok, status, headers, body } = await fetch(url, {
      headers: { range: 'bytes=0-0' },
      // The browser's cache could contain that byte even if the storage is unavailable.
      cache: 'no-store',
      signal: AbortSignal.timeout(STORAGE_TIMEOUT),
    })
    void body?.cancel()
    return ok ? null : { ...readFailure(status, null), wait: Number(headers.get('retry-after')) * 1000 || 0 }
  } catch {
    return noResponse(false)
  }
}

async function create(client: Client, source: Source, signal: AbortSignal): Promise<Answer<Session>> {
  const { apiKey, scope, resourceId, variants, isDownloadable, normalize, expiresIn } = source
  if (!apiKey || !scope || !resourceId) {
    const message = 'Without playSessionId, set apiKey, scope, resourceId'
    return { ok: false, message, code: 'invalid_request', status: 400 }
  }
  const open = (names: string[]) =>
    client.post(`/v1/play_session/${scope as 'track'}`, {
      body: {
        ...({ [`${scope}_id`]: resourceId } as { track_id: string }),
        is_downloadable: isDownloadable,
        views: VIEWS,
        ...(names.length > 0 && { variants: names }),
        ...(expiresIn !== null && { expires_in: expiresIn }),
      },
      signal,
    })
  const session = await open(variants)
  if (!session.ok || !normalize || session.play_session.variants.includes(ANALYSIS)) return session
  // Only the created session shows the default variants of the service, so a second session adds the analysis to them. If the key does not
  // allow the analysis, the first session is used.
  const withAnalysis = await open([...session.play_session.variants, ANALYSIS])
  return withAnalysis.ok ? withAnalysis : session
}
