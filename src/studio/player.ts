import { type Client, createSession, type PlayView, readPlayView } from './api.ts'
import { copyable } from './copy.ts'
import { coverButton } from './cover.ts'
import { button, element } from './dom.ts'
import { clock, explain } from './format.ts'
import { playFirst } from './playback.ts'
import { seekBar } from './seek_bar.ts'
import { variantList } from './variant_list.ts'

let stopCurrent = () => {}

/** Opens a play session for a track and shows its player card in `place`; the one before stops. */
export async function showPlayer(
  client: Client,
  track_id: string,
  place: HTMLElement,
  autoplay: boolean,
): Promise<void> {
  stopCurrent()
  const session = await createSession(client, track_id)
  const view = session.ok ? await readPlayView(client, session.play_session_id, track_id) : session
  if (!view.ok) {
    place.replaceChildren(element('p', { class: 'card error', attributes: { role: 'alert' } }, explain(view)))
    return
  }
  const { root, audio, redraw } = playerCard(client, view)
  stopCurrent = () => {
    audio.pause()
    audio.removeAttribute('src')
  }
  place.replaceChildren(root)
  redraw()
  if (!autoplay) return
  place.scrollIntoView({ block: 'nearest', behavior: 'smooth' })
  await audio.play().catch(() => {})
}

function playerCard(client: Client, view: PlayView) {
  const { track, play_session_id, track_id } = view
  const audio = element('audio', { attributes: { preload: 'metadata' } })
  const bar = seekBar(audio, track.duration, view.levels.levels)
  const time = element('span', { class: 'time' }, `0:00 / ${clock(track.duration)}`)
  const problem = element('p', { class: 'error', attributes: { role: 'alert' } })
  const onProblem = (message: string) => (problem.textContent = message)
  const title = track.player_title ?? track.file_name
  const cover = element('img', {
    class: 'cover',
    attributes: { width: '200', height: '200', alt: `Cover of ${title}` },
  })

  const play = button('', () => (audio.paused ? audio.play().catch(() => {}) : audio.pause()), 'play')
  function showState() {
    play.setAttribute('aria-label', audio.paused ? 'Play' : 'Pause')
    play.dataset.state = audio.paused ? 'paused' : 'playing'
  }
  const onTime = () => {
    time.textContent = `${clock(audio.currentTime)} / ${clock(track.duration)}`
    bar.redraw()
  }
  for (const name of ['play', 'pause', 'ended', 'emptied']) audio.addEventListener(name, showState)
  for (const name of ['timeupdate', 'seeked']) audio.addEventListener(name, onTime)
  showState()

  const root = element('section', { class: 'card player', attributes: { 'aria-label': `Player: ${title}` } })
  function showLooks({ cover_image, track: { player_color } }: PlayView) {
    cover.src = cover_image.regular.url
    if (player_color) root.style.setProperty('--player', player_color)
    bar.redraw()
  }
  showLooks(view)

  const renew = async () => {
    const fresh = await readPlayView(client, play_session_id, track_id)
    return fresh.ok ? fresh : void onProblem(explain(fresh))
  }
  playFirst(audio, view, renew, onProblem)

  const play_url = `${location.origin}/v1/play/${play_session_id}/${track_id}`
  root.append(
    element(
      'div',
      { class: 'player-head' },
      element('div', { class: 'cover-box' }, cover, coverButton(client, view, showLooks, onProblem)),
      element(
        'div',
        { class: 'player-main' },
        element('h2', {}, title),
        element('p', { class: 'hint' }, track.player_subtitle || track.file_name),
        bar.root,
        element('div', { class: 'line' }, play, time),
      ),
    ),
    audio,
    problem,
    variantList(client, view, onProblem),
    element(
      'details',
      { class: 'developer', attributes: { open: '' } },
      element('summary', {}, 'For developers'),
      copyable('Track', track_id),
      copyable('Play session', play_session_id),
      copyable('Play view', play_url),
      copyable('Try it', `curl '${play_url}'`),
    ),
  )
  return { root, audio, redraw: bar.redraw }
}
