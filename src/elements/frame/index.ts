import { EMBED_LEAST_WIDTH, embedHeight } from '../../contract/embed.ts'
import { type Command, type FrameEvent, isMarked, marked } from '../embed/protocol.ts'
import type { TonearmPlayer } from '../player/element.ts'

/** The module `/elements/frame.js` of the embed page: the page around it controls the player, and receives its events. */

const EVENTS = [
  'ready',
  'play',
  'pause',
  'timeupdate',
  'ended',
  'trackchange',
  'error',
  'sessionrefresh',
  'sessionexpired',
] as const
/** Rows that a frame shows which may grow. */
const ROWS = 12

/** The fields of an event that every page receives from the frame of a share: no title, no id, no text of the service. */
const OPEN = ['index', 'last', 'currentTime', 'duration', 'code', 'expiresAt', 'renewed', 'height']

/** The same event without titles and ids. */
function redact({ event, detail }: FrameEvent): FrameEvent {
  const fields = Object.entries(detail).map(([name, value]) => [
    name,
    OPEN.includes(name) ? value : Array.isArray(value) ? [] : null,
  ])
  return { event, detail: Object.fromEntries(fields) }
}

/**
 * Connects the player of this page with the page around it. Returns what ends that. `origins` are those that receive titles and ids; null
 * where all do, as the address of the frame contains the id of its session.
 */
export function join(player: TonearmPlayer, origins: readonly string[] | null, own: Window = window): () => void {
  const ended = new AbortController()
  const { signal } = ended
  // A page may hide its origin from its frames (`referrerpolicy`); its messages always carry it.
  let around: string | undefined = own.location.ancestorOrigins?.[0]
  const tell = (event: FrameEvent) => {
    if (around && origins?.includes(around)) own.parent.postMessage(marked(event), around)
    else own.parent.postMessage(marked(origins ? redact(event) : event), '*')
  }
  for (const name of EVENTS) {
    const listen = (event: CustomEvent) => tell({ event: name, detail: event.detail })
    player.addEventListener(`tonearm-${name}`, listen, { signal })
  }
  const resize = () => {
    const { length } = player.tracks
    // Narrow and alone it needs the height that a list does.
    const isNarrow = own.innerWidth < EMBED_LEAST_WIDTH
    if (length > 0)
      tell({ event: 'resize', detail: { height: embedHeight('collection', isNarrow ? length + 1 : length, ROWS) } })
  }
  player.addEventListener('tonearm-ready', resize, { signal })
  own.addEventListener('resize', resize, { signal })
  own.addEventListener(
    'message',
    ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== own.parent || !isMarked(data)) return
      around = origin
      const command = data as unknown as Command
      if (command.command !== 'hello') return obey(player, command)
      tell({
        event: 'trackchange',
        detail: { track: player.track, index: player.track ? player.tracks.indexOf(player.track) : 0 },
      })
      resize()
    },
    { signal },
  )
  joinOthers(player, own, signal)
  return () => ended.abort()
}

/**
 * Frames of one service pause each other: browsers share a channel between those below pages of one site. The last one to start plays. Two that
 * start at once hear of each other, so each start has its own number.
 */
function joinOthers(player: TonearmPlayer, own: Window, signal: AbortSignal): void {
  // A sandboxed frame without an origin has no channel (Chromium throws).
  if (own.origin === 'null') return
  const channel = new BroadcastChannel('tonearm-play')
  let started = 0
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  const start = () => channel.postMessage((started = Date.now() + Math.random()))
  player.addEventListener('tonearm-play', start, { signal })
  // A player that has not been started keeps its autoplay. One whose session has ended is paused as well: it still goes on in another session.
  channel.onmessage = ({ data }: MessageEvent<number>) =>
    data > started && (started > 0 || !player.paused) && player.pause()
  signal.addEventListener('abort', () => channel.close())
}

function obey(player: TonearmPlayer, command: Command): void {
  if (command.command === 'play') void player.play()
  else if (command.command === 'pause') player.pause()
  else if (command.command === 'next') void player.next()
  else if (command.command === 'previous') void player.previous()
  else if (command.command === 'select') player.select(command.value)
  else if ('value' in command && Number.isFinite(command.value)) {
    if (command.command === 'seek') void player.seek(command.value)
    else if (command.command === 'volume') player.volume = command.value
    else player.rate = command.value
  }
}

if (typeof document !== 'undefined' && window.parent !== window) {
  const player = document.querySelector('tonearm-player')
  const origins = document.querySelector<HTMLElement>('[data-origins]')?.dataset.origins
  if (player) join(player, origins === undefined ? null : [location.origin, ...origins.split(' ')])
}
