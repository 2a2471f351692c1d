import type { Loop, PlaybackOptions, Session, Source, StartOptions } from '../../client/playback/state.ts'

/** Reads the attributes of `<tonearm-player>`. */

/** Attributes that determine the source. A change to one of them opens another session. */
export const SOURCE = ['base-url', 'play-session-id', 'api-key', 'scope', 'resource-id', 'expires-in']
/** Attributes that determine the playback. A change to one of them takes effect at once. */
export const OPTIONS = ['variants', 'loop', 'shuffle', 'rate', 'volume', 'muted', 'normalize'] as const
export const isOption = (name: string): name is (typeof OPTIONS)[number] =>
  (OPTIONS as readonly string[]).includes(name)
export const APPEARANCE = ['download', 'theme', 'accent', 'layout', 'locale', 'skip', 'share', 'no-memory']

const words = (text: string | null) => (text ?? '').split(/[\s,]+/).filter(Boolean)

function number(text: string | null, low: number, high: number, otherwise: number): number {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : otherwise
}

/** Parses `90`, `1:30` or `1:02:03` into seconds. Returns 0 for any other text. */
export function seconds(text: string | null): number {
  const parts = (text ?? '').split(':').map(Number)
  const value = parts.reduce((sum, part) => sum * 60 + part, 0)
  return Number.isFinite(value) && value > 0 ? value : 0
}

/** Parses the attribute `loop`. Its values are `none`, `one` for the current track, and `all` or an empty text for the whole list. */
export const loopOf = (value: string | null): Loop =>
  value === null || value === 'none' ? 'none' : value === 'one' ? 'one' : 'all'

type Host = Pick<Element, 'getAttribute' | 'hasAttribute' | 'querySelector'>

/**
 * Reads what to play. A data block in the element, which contains the session, is removed: it must not be opened again when the attributes change.
 */
export function readSource(host: Host, home: string, baseURI: string): Source {
  const block = host.querySelector<HTMLScriptElement>('script[type$=json]')
  block?.remove()
  const get = (name: string) => host.getAttribute(name) || null
  const expiresIn = get('expires-in')
  return {
    baseUrl: new URL(get('base-url') ?? home, baseURI).href,
    playSessionId: get('play-session-id'),
    apiKey: get('api-key'),
    scope: get('scope'),
    resourceId: get('resource-id'),
    variants: words(get('variants')),
    isDownloadable: host.hasAttribute('download'),
    normalize: host.hasAttribute('normalize'),
    expiresIn: expiresIn === null ? null : number(expiresIn, 60, 86_400, 3600),
    session: block && (JSON.parse(block.text) as Session),
  }
}

export const isComplete = ({ playSessionId, apiKey, scope, resourceId }: Source) =>
  playSessionId !== null || Boolean(apiKey && scope && resourceId)

/** A UUID or a JWT. */
const SESSION_ID = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]+\.[\w-]+\.[\w-]+)$/i

/** Returns which attribute of a source is invalid or missing, or null if there is no such fault. */
export function faultOf({ playSessionId, apiKey, scope, resourceId }: Source): 'id' | 'scope' | 'missing' | null {
  if (playSessionId !== null && !SESSION_ID.test(playSessionId)) return 'id'
  if (scope !== null && !/^(track|collection|playlist)$/.test(scope)) return 'scope'
  const count = [apiKey, scope, resourceId].filter((value) => value !== null).length
  return count % 3 === 0 ? null : 'missing'
}

/** Reads the playback options. If the attribute `volume` or `rate` is missing, its current value is kept. */
export function readOptions(host: Host, current?: PlaybackOptions): PlaybackOptions {
  const get = (name: string) => host.getAttribute(name)
  return {
    variants: words(get('variants')),
    loop: loopOf(get('loop')),
    shuffle: host.hasAttribute('shuffle'),
    normalize: host.hasAttribute('normalize'),
    volume: number(get('volume'), 0, 1, current?.volume ?? 1),
    muted: host.hasAttribute('muted'),
    rate: number(get('rate'), 0.5, 2, current?.rate ?? 1),
  }
}

/** Returns where to start, and the clip if there is an end after it. */
function partOf(start: string | null, end: string | null): Pick<StartOptions, 'position' | 'clip'> {
  const [from, until] = [seconds(start), seconds(end)]
  return { position: from, clip: until > from ? { start: from, end: until } : null }
}

export const readStart = (host: Host): StartOptions => ({
  track: host.getAttribute('track'),
  ...partOf(host.getAttribute('start'), host.getAttribute('end')),
  play: host.hasAttribute('autoplay'),
})

/**
 * Reads the position, the clip and the track from the hash of a URL, such as `#t=90`, `#t=1:02,1:15&track=2` or `#t=,75` (Media Fragments URI,
 * 4.2.1).
 */
export function readHash(hash: string): Partial<StartOptions> {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const [track, t] = [params.get('track'), params.get('t')]
  const [start = '', end = ''] = t?.replace(/^npt:/, '').split(',') ?? []
  return { ...(track && { track }), ...(t && partOf(start, end)) }
}

/** Returns by how many seconds the two skip buttons go back and forward. */
export function readSkip(value: string | null): readonly [number, number] {
  const [back, forward] = words(value).map(Number)
  return back && forward ? [back, forward] : [15, 30]
}

/**
 * Returns the link to share: the value of the attribute, or the URL of the page if the value is empty. The track is added to both. Null if
 * there is no attribute, or if it is `none`.
 */
export function shareLink(value: string | null, page: string, track: number | null): string | null {
  if (value === null || value === 'none') return null
  const url = new URL(value || page, page)
  const params = new URLSearchParams(track === null ? {} : { track: String(track) })
  url.hash = params.toString()
  return url.href
}

/** The valid values of some attributes. Other values are ignored with a warning in the console. */
const VALUES: Record<string, RegExp> = {
  theme: /^(auto|light|dark)$/,
  layout: /^(full|compact|cover)$/,
  loop: /^(|all|one|none)$/,
  accent: /^#[0-9a-f]{6}$/i,
  volume: /^(0?\.\d+|0|1|1\.0*|0\.0*)$/,
  rate: /^\d*\.?\d+$/,
  skip: /^(|none|\d+ \d+)$/,
}

export const isUnderstood = (name: string, value: string | null) =>
  value === null || VALUES[name]?.test(value) !== false
