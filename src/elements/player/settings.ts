import { loopOf } from './queue.ts'
import type { Source } from './service.ts'
import type { Beginning, Wishes } from './state.ts'

/** What the element's attributes say. */

/** Attributes that say what is played: when one changes, another session is opened. */
export const SOURCE = ['base-url', 'play-session-id', 'api-key', 'scope', 'resource-id', 'expires-in']
/** Attributes that say how: they take effect at once. */
export const WISHES = ['variants', 'loop', 'shuffle', 'rate', 'volume', 'muted', 'normalize'] as const
export const isWish = (name: string): name is (typeof WISHES)[number] => (WISHES as readonly string[]).includes(name)
export const LOOKS = ['download', 'theme', 'accent', 'layout', 'locale']

const words = (text: string | null) => (text ?? '').split(/[\s,]+/).filter(Boolean)

function number(text: string | null, low: number, high: number, otherwise: number): number {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : otherwise
}

/** `90`, `1:30` or `1:02:03` in seconds; 0 for anything else. */
export function seconds(text: string | null): number {
  const parts = (text ?? '').split(':').map(Number)
  const value = parts.reduce((sum, part) => sum * 60 + part, 0)
  return Number.isFinite(value) && value > 0 ? value : 0
}

export function readSource(host: Element, home: string): Source {
  const get = (name: string) => host.getAttribute(name) || null
  const expires_in = get('expires-in')
  return {
    base_url: new URL(get('base-url') ?? home, document.baseURI).href,
    play_session_id: get('play-session-id'),
    api_key: get('api-key'),
    scope: get('scope'),
    resource_id: get('resource-id'),
    variants: words(get('variants')),
    is_downloadable: host.hasAttribute('download'),
    normalize: host.hasAttribute('normalize'),
    expires_in: expires_in === null ? null : number(expires_in, 60, 86_400, 3600),
  }
}

export const isComplete = ({ play_session_id, api_key, scope, resource_id }: Source) =>
  play_session_id !== null || Boolean(api_key && scope && resource_id)

/** `before` are the wishes of now, which stay where no attribute says otherwise. */
export function readWishes(host: Element, before?: Wishes): Wishes {
  const get = (name: string) => host.getAttribute(name)
  return {
    variants: words(get('variants')),
    loop: loopOf(get('loop')),
    shuffle: host.hasAttribute('shuffle'),
    normalize: host.hasAttribute('normalize'),
    volume: number(get('volume'), 0, 1, before?.volume ?? 1),
    muted: host.hasAttribute('muted'),
    rate: number(get('rate'), 0.5, 2, before?.rate ?? 1),
  }
}

export const readBeginning = (host: Element): Beginning => ({
  track: host.getAttribute('track'),
  position: seconds(host.getAttribute('start')),
  play: host.hasAttribute('autoplay'),
})
