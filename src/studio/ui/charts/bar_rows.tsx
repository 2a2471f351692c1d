import { percent } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import type { Bar } from './series.ts'

interface Properties {
  label: string
  /** The bars, with the largest first. */
  bars: readonly Bar[]
  format: (value: number) => string
  chosen?: string | undefined
  /** Called with the key of a row, or with an empty text to choose nothing. */
  onChoose?: (key: string) => void
}

const shareText = (share: number) => (share > 0 && share < 0.005 ? t('< 1 %') : percent(share))

/** The parts of a whole: rows with their value and their share, and a bar behind each. A click chooses a row. */
export function BarRows({ label, bars, format, chosen = '', onChoose }: Properties) {
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  const most = Math.max(...bars.map(({ value }) => value))
  return (
    <ul class={chosen ? 'bar-rows chosen' : 'bar-rows'} aria-label={label}>
      {bars.map(({ key, name, value, note }) => {
        const content = (
          <>
            <i class="bar" style={{ inlineSize: `${(value / most) * 100}%` }} />
            <span class="bar-name">
              <bdi>{name}</bdi>
              {note && <span class="soft"> {note}</span>}
            </span>
            <span class="number">{format(value)}</span>
            <span class="number soft">{shareText(value / total)}</span>
          </>
        )
        return (
          <li key={key ?? name}>
            {onChoose && key !== null ? (
              <button type="button" aria-pressed={key === chosen} onClick={() => onChoose(key === chosen ? '' : key)}>
                {content}
              </button>
            ) : (
              <div>{content}</div>
            )}
          </li>
        )
      })}
    </ul>
  )
}
