import type { Track } from '../contract/track.ts'
import type { Listed } from './api.ts'
import { element } from './dom.ts'
import { clock, failureOf, percent, progressOf } from './format.ts'

/** One line of the list: what happens to a file, from choosing it to playing it. */
export interface TrackRow {
  root: HTMLElement
  showUpload: (fraction: number) => void
  showTrack: (track: Listed | Track) => void
  showProblem: (message: string, retry?: () => void) => void
}

export function trackRow(name: string, onPlay: () => void): TrackRow {
  const title = element('span', { class: 'title' }, name)
  const state = element('span', { class: 'state' })
  const bar = element('progress', { attributes: { max: '1', value: '0', 'aria-label': `Progress of ${name}` } })
  const play = element('button', {
    class: 'play small',
    attributes: { type: 'button', 'aria-label': `Play ${name}` },
    onclick: onPlay,
  })
  play.dataset.state = 'paused'
  const note = element('p', { class: 'note' })
  const root = element('li', { class: 'track' }, play, element('div', { class: 'track-text' }, title, state), bar, note)

  function show(status: string, text: string, progress?: number, problem = '') {
    root.dataset.status = status
    state.textContent = text
    play.disabled = status !== 'ready' && status !== 'incomplete'
    bar.hidden = progress === undefined
    bar.value = progress ?? 0
    note.replaceChildren(problem)
  }

  function showTrack(track: Listed | Track) {
    title.textContent = track.player_title ?? track.file_name
    const { status } = track
    const info = 'info' in track ? track.info : {}
    if (status === 'ready') show(status, clock(track.duration))
    else if (status === 'incomplete') show(status, clock(track.duration), undefined, 'Some variants could not be made.')
    else if (status === 'failed') show(status, 'Failed', undefined, failureOf(info))
    else if (status === 'initializing') show(status, 'Waiting for the file', 0)
    else
      show(
        status,
        `${status === 'processing' ? 'Processing' : 'Processing, second try'} ${percent(progressOf(info))}`,
        progressOf(info),
      )
  }

  function showProblem(message: string, retry?: () => void) {
    show('failed', 'Failed', undefined, message)
    if (!retry) return
    const again = element('button', { class: 'small', attributes: { type: 'button' }, onclick: retry }, 'Try again')
    note.append(' ', again)
  }

  show('initializing', 'Waiting')
  return {
    root,
    showTrack,
    showProblem,
    showUpload: (fraction) => show('uploading', fraction < 1 ? `Uploading ${percent(fraction)}` : 'Uploaded', fraction),
  }
}
