import type { ComponentChildren } from 'preact'

interface Properties {
  label: string
  hint?: string
  checked: boolean
  onChange: (checked: boolean) => void
  /** The fields that belong to the setting. They are shown while it is on. */
  children?: ComponentChildren
}

/** Returns the first text field of a setting, where a person who turns it on types next. */
const firstField = (input: Element) =>
  input.closest('.switch-field')?.querySelector<HTMLElement>('.switch-fields :is(input:not([type=checkbox]), textarea)')

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
        onChange={({ currentTarget }) => {
          onChange(currentTarget.checked)
          if (currentTarget.checked) requestAnimationFrame(() => firstField(currentTarget)?.focus())
        }}
      />
    </label>
    {checked && children && <div class="switch-fields">{children}</div>}
  </div>
)
