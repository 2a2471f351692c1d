import { useEffect, useReducer, useRef, useState } from 'preact/hooks'

import { readPlayView, type Track } from '../../base/api.ts'
import { formatClock, explain, signed } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, position, togglePlay } from '../../data/now_playing.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Choice } from '../../ui/controls/choice.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Comparison } from './comparison.ts'
import { filesSession, type TrackFile } from './use_files.ts'

const SIDES = [
  ['0', text('A')],
  ['1', text('B')],
] as const

interface Properties {
  track: Track
  files: readonly TrackFile[]
}

/** Compares two files of a track, such as the original and a variant, at the same position and the same loudness. */
export function Compare({ track, files }: Properties) {
  const client = useClient()
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const comparison = useRef<Comparison>(null)
  const audible = files.filter(({ type }) => type === 'original' || type === 'transcode')
  const [chosen, setChosen] = useState<readonly [string, string]>()
  const [a, b] = chosen ?? defaults(audible)
  const current = comparison.current
  useEffect(() => () => comparison.current?.close(), [])
  if (audible.length < 2 || !a || !b) return null

  async function open(indexes: readonly [string, string], time: number, heard: number): Promise<void> {
    const session = await filesSession(client, track.id, files)
    const view = session.ok ? await readPlayView(client, session.play_session_id, track.id) : session
    if (!view.ok) return announce(explain(view))
    const urls = indexes.map((index) => view.variants.find(({ variant }) => variant.index === index)?.url)
    if (!urls[0] || !urls[1]) return announce(t('One of these files does not exist any more. Load the page again.'))
    comparison.current?.close()
    const opened = new Comparison([urls[0], urls[1]], time)
    comparison.current = opened
    opened.onChange = () => redraw()
    opened.hear(heard)
    if (nowPlaying.get()?.playing) togglePlay()
    await opened.play()
  }
  function toggle() {
    if (current?.isPlaying) return current.pause()
    if (current && !current.problem) return current.play()
    const isHere = nowPlaying.get()?.track_id === track.id
    return open([a!, b!], isHere ? position.get() * track.duration : 0, 0)
  }
  function change(indexes: readonly [string, string]) {
    setChosen(indexes)
    if (current) void open(indexes, current.time, current.heard)
  }
  const options = audible.map(({ index, name }) => [index, name] as const)
  return (
    <section class="part" aria-labelledby="compare-title">
      <h2 id="compare-title">{t('Compare')}</h2>
      <div class="compare">
        <Button icon={current?.isPlaying ? 'pause' : 'play'} onClick={toggle}>
          {current?.isPlaying ? t('Pause comparison') : t('Play comparison')}
        </Button>
        <Choice
          label={t('Heard')}
          options={SIDES}
          value={String(current?.heard ?? 0) as '0' | '1'}
          onChange={(side) => current?.hear(Number(side))}
        />
        <SelectField label={t('A')} value={a} options={options} onChange={(index) => change([index, b])} />
        <SelectField label={t('B')} value={b} options={options} onChange={(index) => change([a, index])} />
      </div>
      <p class="soft" role={current?.problem ? 'alert' : undefined}>
        {current ? noteOf(current) : t('Both play in sync at the same loudness. Switch between A and B at any time.')}
      </p>
    </section>
  )
}

/** Returns the original and the first variant. */
const defaults = (files: readonly TrackFile[]) => [
  files.find(({ type }) => type === 'original')?.index ?? files[1]?.index,
  files.find(({ type }) => type === 'transcode')?.index,
]

function noteOf({ problem, difference, time }: Comparison): string {
  if (problem) return t('This browser cannot play one of these files. Choose two others.')
  const at = formatClock(time)
  if (difference === null) return t('{time} · measuring the loudness', { time: at })
  const n = signed(Math.abs(difference), 'dB')
  if (Math.abs(difference) < 0.05) return t('{time} · both are equally loud', { time: at })
  return difference > 0
    ? t('{time} · B is {n} louder and turned down by that', { time: at, n })
    : t('{time} · A is {n} louder and turned down by that', { time: at, n })
}
