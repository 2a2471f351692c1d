import { t } from '../../base/text.ts'
import { useUniqueId } from './id.ts'

interface Properties<T extends string> {
  label: string
  /** The values with their English names. */
  options: readonly (readonly [value: T, name: string])[]
  value: T
  onChange: (value: T) => void
  /** Whether only screen readers get the label, because the options say what they are. */
  hidesLabel?: boolean
}

/** A segmented control: a group of radio buttons in one line, for two to four choices. */
export function Choice<T extends string>({ label, options, value, onChange, hidesLabel }: Properties<T>) {
  const name = useUniqueId()
  return (
    <fieldset class="choice">
      <legend class={hidesLabel ? 'visually-hidden' : undefined}>{label}</legend>
      <span class="choice-options">
        {options.map(([option, english]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
            <span>{t(english)}</span>
          </label>
        ))}
      </span>
    </fieldset>
  )
}
