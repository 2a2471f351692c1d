import { clock } from '../shared/clock.ts'
import { button, element, icon, setAttributes } from '../shared/dom.ts'
import type { Actions } from './actions.ts'
import { ICONS } from './icons.ts'
import type { State, Status, Wishes } from './state.ts'
import type { Strings } from './strings.ts'
import { createTrackList } from './track_list.ts'

/** Everything that the view shows. */
export interface Model {
  state: State
  wishes: Wishes
  strings: Strings
  locale: string
  waiting: boolean
  downloadable: boolean
  /** The last download came to nothing. */
  undelivered: boolean
  duration: number
  hasNext: boolean
}

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]

export type PlayerView = ReturnType<typeof createView>

/** The player's shadow tree, and how it is brought up to date. */
export function createView(actions: Actions) {
  const play = button('button play-button', actions.toggle, icon(ICONS.play))
  const previous = button('button previous-button', actions.previous, icon(ICONS.previous))
  const next = button('button next-button', actions.next, icon(ICONS.next))
  const shuffle = button('button shuffle-button', actions.toggleShuffle, icon(ICONS.shuffle))
  const repeat = button('button repeat-button', actions.toggleRepeat, icon(ICONS.repeat))
  const mute = button('button mute-button', actions.mute, icon(ICONS.sound))
  const download = button('button download-button', actions.download, icon(ICONS.download))
  const volume = element('input', { type: 'range', part: 'volume', class: 'volume', min: 0, max: 1, step: 0.05 })
  const rate = element('select', { part: 'speed', class: 'rate', dir: 'ltr' })
  const waveform = element('tonearm-waveform', { part: 'waveform', class: 'waveform' })
  const cover = element('img', { part: 'cover', class: 'cover', alt: '', width: 400, height: 400, decoding: 'async' })
  const title = element('p', { part: 'title', class: 'title' })
  const subtitle = element('p', { part: 'subtitle', class: 'subtitle' })
  const now = element('span', { part: 'current-time', class: 'now' })
  const whole = element('span', { part: 'duration', class: 'whole' })
  const message = element('span', {})
  const retry = button('retry', actions.retry)
  const status = element('div', { part: 'status', class: 'status', role: 'status' }, message, retry)
  const list = createTrackList(actions.select)
  const transport = element('div', { class: 'transport' }, shuffle, previous, play, next, repeat)
  const root = element(
    'section',
    { part: 'base', class: 'base', tabindex: -1 },
    element('div', { class: 'art' }, cover),
    element('div', { class: 'titles' }, title, subtitle),
    element('div', { class: 'timeline' }, waveform, element('div', { class: 'times' }, now, whole)),
    element(
      'div',
      { class: 'controls' },
      transport,
      element('div', { class: 'left' }, rate),
      element('div', { class: 'right' }, mute, volume, download),
    ),
    status,
    list.root,
  )
  cover.addEventListener('error', () => (cover.hidden = true))
  volume.addEventListener('input', () => actions.setVolume(Number(volume.value)))
  rate.addEventListener('change', () => actions.setRate(Number(rate.value)))
  waveform.addEventListener('tonearm-seek', (event) => {
    event.stopPropagation()
    actions.seek((event as CustomEvent<{ time: number }>).detail.time)
  })

  function showTime(time: number, duration: number): void {
    waveform.currentTime = time
    const text = clock(time)
    if (now.textContent !== text) now.textContent = text
    const length = clock(duration)
    if (whole.textContent !== length) whole.textContent = length
  }

  return {
    root,
    showTime,
    waveform,
    update(model: Model, time: number): void {
      const { state, wishes, strings } = model
      const { view, session, place, playing } = state
      const track = session?.tracks[place]
      const silent = wishes.muted || wishes.volume === 0
      const several = (session?.tracks.length ?? 0) > 1
      setAttributes(root, {
        'aria-label': strings.player,
        'aria-busy': String(state.status === 'loading'),
        'data-status': state.status,
        'data-playing': playing && state.status === 'ready' && !model.waiting,
        'data-waiting': playing && (model.waiting || state.status === 'loading' || state.status === 'offline'),
        'data-several': several,
      })
      write(title, view?.track.player_title ?? track?.player_title ?? view?.track.file_name ?? '')
      write(subtitle, view?.track.player_subtitle ?? track?.player_subtitle ?? '')
      showCover(cover, view?.cover_image.regular.url)
      const levels = view?.levels.levels ?? NO_LEVELS
      if (waveform.levels !== levels) waveform.levels = levels
      if (waveform.duration !== model.duration) waveform.duration = model.duration
      setAttributes(waveform, { label: strings.position, 'value-text': strings.time_of, locale: model.locale })
      showTime(time, model.duration)

      label(play, playing ? strings.pause : strings.play, playing ? ICONS.pause : ICONS.play)
      label(previous, strings.previous)
      label(next, strings.next)
      label(shuffle, strings.shuffle)
      label(repeat, strings.repeat)
      label(download, strings.download)
      label(mute, silent ? strings.unmute : strings.mute, silent ? ICONS.muted : ICONS.sound)
      next.disabled = !model.hasNext
      shuffle.setAttribute('aria-pressed', String(wishes.shuffle))
      repeat.setAttribute('aria-pressed', String(wishes.loop !== 'none'))
      download.hidden = !model.downloadable
      showVolume(volume, wishes.muted ? 0 : wishes.volume, strings)
      showRates(rate, wishes.rate, strings, model.locale)

      const text = messageOf(state.status, strings) || (model.undelivered ? strings.download_failed : '')
      // Screen readers say again what is written again.
      if (message.textContent !== text) message.textContent = text
      status.hidden = text === ''
      if (retry.textContent !== strings.retry) retry.textContent = strings.retry
      retry.hidden = state.status !== 'failed'
      list.update(session?.tracks ?? NO_TRACKS, place, strings)
    },
  }
}

/** Writes text of any direction; its alignment is the player's. */
function write(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.replaceChildren(...(text ? [element('bdi', {}, text)] : []))
}

const NO_LEVELS: readonly number[] = []
const NO_TRACKS: [] = []

/** Sets the name that screen readers say and a mouse shows, and another icon. */
function label(target: HTMLButtonElement, text: string, path?: string): void {
  setAttributes(target, { 'aria-label': text, title: text })
  if (path) target.querySelector('path')?.setAttribute('d', path)
}

/** Another address of the same picture, as every play view brings one, must not make it load again. */
function showCover(cover: HTMLImageElement, url: string | undefined): void {
  const path = url?.split('?')[0] ?? ''
  if (cover.dataset.path === path) return
  cover.dataset.path = path
  cover.hidden = path === ''
  if (url) cover.src = url
}

function showVolume(input: HTMLInputElement, value: number, strings: Strings): void {
  input.value = String(value)
  setAttributes(input, { 'aria-label': strings.volume, 'aria-valuetext': `${Math.round(value * 100)} %` })
  input.style.setProperty('--_value', String(value))
}

function showRates(select: HTMLSelectElement, rate: number, strings: Strings, locale: string): void {
  setAttributes(select, { 'aria-label': strings.speed, title: strings.speed })
  const rates = RATES.includes(rate) ? RATES : [...RATES, rate].toSorted((a, b) => a - b)
  const key = [locale, ...rates].join(' ')
  if (select.dataset.key !== key) {
    select.dataset.key = key
    const format = new Intl.NumberFormat(locale)
    select.replaceChildren(...rates.map((value) => element('option', { value }, `${format.format(value)}×`)))
  }
  select.value = String(rate)
}

function messageOf(status: Status, strings: Strings): string {
  if (status === 'ready' || status === 'loading') return ''
  return strings[status]
}
