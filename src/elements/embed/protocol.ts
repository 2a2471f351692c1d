import type { PlaybackEvents } from '../../client/playback/state.ts'

/** The messages that a page and the player in its frame exchange with `postMessage`. */

/** Marks the messages of this protocol, and contains the version of their format. */
export const PROTOCOL = 'tonearm-1'

export type Command =
  | { command: 'play' | 'pause' | 'next' | 'previous' | 'hello' }
  | { command: 'seek' | 'volume' | 'rate'; value: number }
  | { command: 'select'; value: string }

/**
 * The player's events under their names without `tonearm-`, and `resize` with the height in pixels that the list needs. The frame of a
 * share sends titles and ids only to pages from the share's `allowed_origins`; for other pages, `track` and `playSessionId` are null and
 * `tracks` is empty.
 */
export type FrameEvents = Omit<PlaybackEvents, 'sessionrefresh'> & {
  sessionrefresh: Omit<PlaybackEvents['sessionrefresh'], 'playSessionId'> & { playSessionId: string | null }
  resize: { height: number }
}
export type FrameEvent = { [N in keyof FrameEvents]: { event: N; detail: FrameEvents[N] } }[keyof FrameEvents]

type Marked<T> = T & { protocol: typeof PROTOCOL }

export const marked = <T extends object>(message: T): Marked<T> => ({ protocol: PROTOCOL, ...message })

/** Whether a message belongs to this protocol. */
export const isMarked = (data: unknown): data is Marked<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && (data as { protocol?: unknown }).protocol === PROTOCOL

/** Whether a message reports that a player in a frame of the service has started. `service` is the URL of the service. */
export const isPlay = ({ data, origin }: MessageEvent<unknown>, service = '') =>
  isMarked(data) && data.event === 'play' && service.startsWith(`${origin}/`)

/** Pauses the players in this page's frames from the service. The target origin is `*`, because a loading frame has no origin yet. */
export function pauseFrames(service: string): void {
  for (const frame of document.querySelectorAll<HTMLIFrameElement>(`iframe[src^="${service}"]`))
    frame.contentWindow?.postMessage(marked({ command: 'pause' }), '*')
}
