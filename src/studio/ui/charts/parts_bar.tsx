import { percent } from '../../base/format.ts'
import { t } from '../../base/text.ts'

interface Part {
  name: string
  value: number
  /** The number of files, for example. */
  note?: string
}

interface Properties {
  label: string
  /** The parts, with the largest first. */
  parts: readonly Part[]
  format: (value: number) => string
}

/** A bar that is divided among the parts of a whole, and a list with the exact numbers. */
export function PartsBar({ label, parts, format }: Properties) {
  const total = parts.reduce((sum, { value }) => sum + value, 0)
  return (
    <div class="parts">
      <div class="parts-bar" aria-hidden="true">
        {parts.map(({ name, value }) => (
          <span key={name} title={`${name}: ${format(value)}`} style={{ flexGrow: value / total }} />
        ))}
      </div>
      <ul aria-label={label}>
        {parts.map(({ name, value, note }) => (
          <li key={name}>
            <span class="parts-name">
              {name}
              {note && <span class="soft"> {note}</span>}
            </span>
            <span class="number">{format(value)}</span>
            <span class="number soft">{value / total < 0.005 ? t('< 1 %') : percent(value / total)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
