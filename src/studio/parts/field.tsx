import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProperties {
  label: string
  hint?: ComponentChildren
  children: (id: string, described: string | undefined) => ComponentChildren
}

/** A label with what belongs to it, and a hint that screen readers know. */
export function Field({ label, hint, children }: FieldProperties) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hint ? `${id}-hint` : undefined)}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface TextProperties {
  label: string
  value: string
  onInput: (value: string) => void
  hint?: ComponentChildren
  required?: boolean
  placeholder?: string
  multiline?: boolean
}

export const TextField = ({ label, value, onInput, hint, multiline, ...rest }: TextProperties) => (
  <Field label={label} hint={hint}>
    {(id, described) =>
      multiline ? (
        <textarea
          id={id}
          aria-describedby={described}
          rows={2}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          {...rest}
        />
      ) : (
        <input
          id={id}
          aria-describedby={described}
          maxLength={255}
          autocomplete="off"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          {...rest}
        />
      )
    }
  </Field>
)

interface SelectProperties {
  label: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onChange: (value: string) => void
  hint?: ComponentChildren
}

export const SelectField = ({ label, value, options, onChange, hint }: SelectProperties) => (
  <Field label={label} hint={hint}>
    {(id, described) => (
      <select
        id={id}
        aria-describedby={described}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface CheckProperties {
  label: ComponentChildren
  checked: boolean
  onChange: (checked: boolean) => void
}

export const Check = ({ label, checked, onChange }: CheckProperties) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
  </label>
)
