import { t } from '../../base/text.ts'
import { useUniqueId } from './id.ts'

interface Properties<T extends string> {
  label: string
  /** The values with their English names. */
  options: readonly (readonly [value: T, name: string])[]
  value: T
  onChange: (value: T) => void
}

/** A group of radio buttons in one line. */
export function Choice<T extends string>({ label, options, value, onChange }: Properties<T>) {
  const name = useUniqueId()
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
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
