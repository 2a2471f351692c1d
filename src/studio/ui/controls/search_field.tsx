import { MAX_STRING } from '../../../contract/facts.ts'

interface Properties {
  label: string
  /** The label by default. */
  placeholder?: string
  value: string
  onInput: (words: string) => void
  class?: string
}

/** A field for the words of a search. */
export const SearchField = ({ label, placeholder = label, value, onInput, class: name }: Properties) => (
  <input
    type="search"
    class={name}
    aria-label={label}
    placeholder={placeholder}
    autocomplete="off"
    maxLength={MAX_STRING}
    value={value}
    onInput={(event) => onInput(event.currentTarget.value)}
  />
)
