import type { ComponentChildren } from 'preact'

interface Properties {
  label: string
  hint?: string
  checked: boolean
  onChange: (checked: boolean) => void
  /** The fields that belong to the setting. They are shown while it is on. */
  children?: ComponentChildren
}

/** A setting that can be on or off, with its fields beneath. */
export const Switch = ({ label, hint, checked, onChange, children }: Properties) => (
  <div class="switch-field">
    <label class="switch">
      <span>
        {label}
        {hint && <span class="hint">{hint}</span>}
      </span>
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </label>
    {checked && children && <div class="switch-fields">{children}</div>}
  </div>
)
