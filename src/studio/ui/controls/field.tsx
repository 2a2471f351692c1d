import type { ComponentChildren } from 'preact'

import { MAX_STRING } from '../../../contract/facts.ts'
import { useUniqueId } from './id.ts'

interface FieldProperties {
  label: string
  hint?: ComponentChildren
  /** The error of the value. */
  error?: string | undefined
  children: (id: string, described: string | undefined) => ComponentChildren
}

/** A label with a control, and a hint or an error that describes it for screen readers. */
export function Field({ label, hint, error, children }: FieldProperties) {
  const id = useUniqueId()
  const note = error ?? hint
  return (
    <div class="field">
      <label for={id} id={`${id}-label`}>
        {label}
      </label>
      {children(id, note ? `${id}-note` : undefined)}
      {note && (
        <p key={note} class={error ? 'error' : 'hint'} role={error ? 'alert' : undefined} id={`${id}-note`}>
          {note}
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
  maxLength?: number
  error?: string | undefined
}

export const TextField = ({ label, value, onInput, hint, error, ...rest }: TextProperties) => (
  <Field label={label} hint={hint} error={error}>
    {(id, described) => (
      <input
        id={id}
        aria-describedby={described}
        aria-invalid={error ? true : undefined}
        maxLength={MAX_STRING}
        autocomplete="off"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...rest}
      />
    )}
  </Field>
)

type NumberProperties = Pick<TextProperties, 'label' | 'value' | 'onInput' | 'hint' | 'error'>

export const NumberField = ({ label, value, onInput, hint, error }: NumberProperties) => (
  <Field label={label} hint={hint} error={error}>
    {(id, described) => (
      <input
        type="number"
        step="any"
        id={id}
        onFocus={(event) => event.currentTarget.select()}
        aria-describedby={described}
        aria-invalid={error ? true : undefined}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
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
