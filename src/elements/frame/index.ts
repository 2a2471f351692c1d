import { EMBED_LEAST_WIDTH, embedHeight } from '../../contract/embed.ts'
import { type Command, type FrameEvent, isMarked, marked } from '../embed/protocol.ts'
import type { TonearmPlayer } from '../player/element.ts'

/** The module `/elements/frame.js`, of the embed page: lets the page around it move the player, and tells it what happens. */

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

/** Joins the player of this page with the page around it; answers how to end that. */
export function join(player: TonearmPlayer, own: Window = window): () => void {
  const ended = new AbortController()
  const { signal } = ended
  // Anybody may hold the frame (its policy says so), and nothing that is told is a secret to who knows its address.
  const tell = (event: FrameEvent) => own.parent.postMessage(marked(event), '*')
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
    ({ source, data }: MessageEvent<unknown>) => {
      if (source !== own.parent || !isMarked(data)) return
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
  return () => ended.abort()
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

const player = typeof document === 'undefined' ? null : document.querySelector('tonearm-player')
if (player && window.parent !== window) join(player)
