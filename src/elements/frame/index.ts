import { EMBED_MIN_WIDTH, embedHeight } from '../../contract/embed.ts'
import { type Command, type FrameEvent, isMarked, marked } from '../embed/protocol.ts'
import type { TonearmPlayer } from '../player/element.ts'

/** The module `/elements/frame.js` of the embed page: lets the embedding page control the player and receive its events. */

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
/** Maximum number of rows that a growing frame shows. */
const ROWS = 12

/** The fields of an event that the frame of a share sends to every page: no titles, ids or texts of the service. */
const PUBLIC_FIELDS = ['index', 'last', 'currentTime', 'duration', 'code', 'expiresAt', 'renewed', 'height']

/** Returns the event without titles and ids. */
function redact({ event, detail }: FrameEvent): FrameEvent {
  const fields = Object.entries(detail).map(([name, value]) => [
    name,
    PUBLIC_FIELDS.includes(name) ? value : Array.isArray(value) ? [] : null,
  ])
  return { event, detail: Object.fromEntries(fields) }
}

/**
 * Connects the player of this page with the embedding page. Returns a function that ends this. `origins` receive titles and ids; null for
 * all origins, if the URL of the frame contains the id of its session anyway.
 */
export function connectFrame(
  player: TonearmPlayer,
  origins: readonly string[] | null,
  frame: Window = window,
): () => void {
  const ended = new AbortController()
  const { signal } = ended
  // A page can hide its origin from its frames (`referrerpolicy`), but its messages always contain it.
  let parentOrigin: string | undefined = frame.location.ancestorOrigins?.[0]
  const send = (event: FrameEvent) => {
    if (parentOrigin && origins?.includes(parentOrigin)) frame.parent.postMessage(marked(event), parentOrigin)
    else frame.parent.postMessage(marked(origins ? redact(event) : event), '*')
  }
  for (const name of EVENTS) {
    const listen = (event: CustomEvent) => send({ event: name, detail: event.detail })
    player.addEventListener(`tonearm-${name}`, listen, { signal })
  }
  const resize = () => {
    const { length } = player.tracks
    // In a narrow frame, a single track needs the height of a list as well.
    const isNarrow = frame.innerWidth < EMBED_MIN_WIDTH
    if (length > 0)
      send({ event: 'resize', detail: { height: embedHeight('collection', isNarrow ? length + 1 : length, ROWS) } })
  }
  player.addEventListener('tonearm-ready', resize, { signal })
  frame.addEventListener('resize', resize, { signal })
  frame.addEventListener(
    'message',
    ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== frame.parent || !isMarked(data)) return
      parentOrigin = origin
      const command = data as unknown as Command
      if (command.command !== 'hello') return execute(player, command)
      send({
        event: 'trackchange',
        detail: { track: player.track, index: player.track ? player.tracks.indexOf(player.track) : 0 },
      })
      resize()
    },
    { signal },
  )
  pauseOthers(player, frame, signal)
  return () => ended.abort()
}

/**
 * Lets the frames of a service pause each other: browsers share a channel between all frames below pages of one site. The last player to
 * start wins. Each start has a number, so that of two at the same time exactly one keeps playing.
 */
function pauseOthers(player: TonearmPlayer, frame: Window, signal: AbortSignal): void {
  // A sandboxed frame without an origin has no channel; Chromium throws.
  if (frame.origin === 'null') return
  const channel = new BroadcastChannel('tonearm-play')
  let started = 0
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  const start = () => channel.postMessage((started = Date.now() + Math.random()))
  player.addEventListener('tonearm-play', start, { signal })
  // A player that has not started keeps its autoplay. One whose session has ended is paused, because it would continue in another session.
  channel.onmessage = ({ data }: MessageEvent<number>) =>
    data > started && (started > 0 || !player.paused) && player.pause()
  signal.addEventListener('abort', () => channel.close())
}

function execute(player: TonearmPlayer, command: Command): void {
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
  if (player) connectFrame(player, origins === undefined ? null : [location.origin, ...origins.split(' ')])
}
