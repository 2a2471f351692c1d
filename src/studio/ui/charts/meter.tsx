import { percent } from '../../base/format.ts'
import { t } from '../../base/text.ts'

/** Fraction from which a meter has the color of a warning, as the event `quota.warning` (docs/upload.md#quotas). */
const WARNING = 0.8

interface Properties {
  label: string
  used: number
  /** Null if there is no limit; the meter then shows only the text. */
  limit: number | null
  /** Formats `used` and `limit`. */
  format: (value: number) => string
  note?: string | undefined
}

/** Shows how much of a limit is used, as a bar and as text. */
export function Meter({ label, used, limit, format, note }: Properties) {
  const text =
    limit === null
      ? t('{used}, no limit', { used: format(used) })
      : t('{used} of {limit}', { used: format(used), limit: format(limit) })
  const fraction = limit === null ? 0 : limit === 0 ? 1 : Math.min(1, used / limit)
  const full = Math.floor(fraction * 100)
  return (
    <div class="meter">
      <span class="meter-text">
        <span>{label}</span>
        <span class="soft">{note ? `${text} · ${note}` : text}</span>
      </span>
      {limit !== null && (
        <div
          class="meter-bar"
          role="meter"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={full}
          aria-valuetext={`${text}, ${percent(full / 100)}`}
        >
          <div
            class={fraction >= 1 ? 'full' : fraction >= WARNING ? 'near' : undefined}
            style={{ inlineSize: `${fraction * 100}%` }}
          />
        </div>
      )}
    </div>
  )
}
