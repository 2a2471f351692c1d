import { position } from '../../data/now_playing.ts'
import { useStore } from '../../data/store.ts'
import { WAVE } from '../../data/track_rows.ts'

interface Properties {
  /** The path of the waveform, from `wavePath`. */
  path: string
  isCurrent: boolean
  /** Called with the fraction at which the user pressed, 0–1. */
  onSeek: (fraction: number) => unknown
}

const Bars = ({ path, part }: { path: string; part: string }) => (
  <svg class={part} viewBox={`0 0 ${WAVE.width} ${WAVE.height}`} preserveAspectRatio="none" aria-hidden="true">
    <path d={path} />
  </svg>
)

/** The waveform of a row, which plays at the place where it is pressed. With a keyboard, the player at the bottom of the page seeks. */
export const Wave = ({ path, isCurrent, onSeek }: Properties) => (
  // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- only a shortcut for the pointer
  <span
    class="wave"
    dir="ltr"
    onClick={({ currentTarget, clientX }) => {
      const { left, width } = currentTarget.getBoundingClientRect()
      onSeek(Math.min(1, Math.max(0, (clientX - left) / width)))
    }}
  >
    {path && <Bars path={path} part="rest" />}
    {path && isCurrent && <Played path={path} />}
  </span>
)

/** The part that has been played. Only the row of the current track follows the position. */
function Played({ path }: { path: string }) {
  const played = useStore(position)
  return (
    <span class="played" style={{ clipPath: `inset(0 ${(1 - played) * 100}% 0 0)` }}>
      <Bars path={path} part="ink" />
    </span>
  )
}
