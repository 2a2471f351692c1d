import { isMarked, marked } from '../embed/protocol.ts'

/** The players in frames of the service on a page that has a player of its own. `service` is the address of the service. */

/** Whether a message says that one of them plays. */
export const isPlay = ({ data, origin }: MessageEvent<unknown>, service = '') =>
  isMarked(data) && data.event === 'play' && service.startsWith(`${origin}/`)

/** Pauses them. Any origin may read this: a frame that has not loaded yet has none. */
export function pauseFrames(service: string): void {
  for (const frame of document.querySelectorAll<HTMLIFrameElement>(`iframe[src^="${service}"]`))
    frame.contentWindow?.postMessage(marked({ command: 'pause' }), '*')
}
