interface Properties {
  label: string
  /** The values with their names. */
  options: readonly (readonly [value: string, name: string])[]
  value: string
  onChange: (value: string) => void
}

/** A row of filters, one of which is chosen. */
export const Chips = ({ label, options, value, onChange }: Properties) => (
  <div class="chips" role="group" aria-label={label}>
    {options.map(([option, name]) => (
      <button key={option} type="button" class="chip" aria-pressed={option === value} onClick={() => onChange(option)}>
        {name}
      </button>
    ))}
  </div>
)
