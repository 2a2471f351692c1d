import { EMBED_MIN_WIDTH, embedHeight } from '../../contract/embed.ts'
import { type Command, type FrameEvent, isMarked, marked } from '../embed/protocol.ts'
import type { TonearmPlayer } from '../player/element.ts'

/** The module `/elements/frame.js` of the embed page, which lets the embedding page control the player and receive its events. */

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
/** Maximum number of rows for which a frame grows. */
const ROWS = 12

/** The fields of events that the frame of a share sends to every page. They contain no titles, no ids and no texts from the service. */
const PUBLIC_FIELDS = ['index', 'last', 'currentTime', 'duration', 'code', 'expiresAt', 'renewed', 'height']

/** Returns the event with only its public fields. Other fields become null or an empty array. */
function redact({ event, detail }: FrameEvent): FrameEvent {
  const fields = Object.entries(detail).map(([name, value]) => [
    name,
    PUBLIC_FIELDS.includes(name) ? value : Array.isArray(value) ? [] : null,
  ])
  return { event, detail: Object.fromEntries(fields) }
}

/**
 * Connects the player of this page to the embedding page. Returns a function that disconnects them. Only pages from `origins` receive
 * titles and ids. Null allows all origins, for frames whose URL contains the id of their session anyway.
 */
export function connectFrame(
  player: TonearmPlayer,
  origins: readonly string[] | null,
  frame: Window = window,
): () => void {
  const ended = new AbortController()
  const { signal } = ended
  // Some browsers do not report this origin, and a page can hide it from its frames (`referrerpolicy`). The page's messages always contain it.
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
    // In a narrow frame, the player needs the height of one more row, even for a single track.
    const isNarrow = frame.innerWidth < EMBED_MIN_WIDTH
    const isSquare = player.getAttribute('layout') === 'cover'
    const height = isSquare ? frame.innerWidth : embedHeight('collection', isNarrow ? length + 1 : length, ROWS)
    if (length > 0) send({ event: 'resize', detail: { height } })
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
 * Lets the frames from a service pause each other, so that only the last player to start keeps playing. They communicate over a channel
 * that browsers share between all frames in pages from the same site. Each start has a number, so that exactly one player keeps playing if
 * two start at the same time.
 */
function pauseOthers(player: TonearmPlayer, frame: Window, signal: AbortSignal): void {
  // In a sandboxed frame without an origin there are no channels, and Chromium throws.
  if (frame.origin === 'null') return
  const channel = new BroadcastChannel('tonearm-play')
  let started = 0
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  const start = () => channel.postMessage((started = Date.now() + Math.random()))
  player.addEventListener('tonearm-play', start, { signal })
  // A player that has not started is not paused, so that its autoplay still works. A player whose session has ended is paused, because it
  // would continue in another session.
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
  // The page loads this module before that of the player, which may play without any request: its first events must not be missed.
  if (player)
    void customElements
      .whenDefined('tonearm-player')
      .then(() => connectFrame(player, origins === undefined ? null : [location.origin, ...origins.split(' ')]))
}
