import { useRef } from 'preact/hooks'

import { MAX_STRING } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

interface Properties {
  label: string
  /** The label by default. */
  placeholder?: string
  value: string
  onInput: (words: string) => void
  class?: string
}

/** A field for the words of a search, with a button that clears it. */
export function SearchField({ label, placeholder = label, value, onInput, class: name = '' }: Properties) {
  const field = useRef<HTMLInputElement>(null)
  function clear() {
    onInput('')
    field.current?.focus()
  }
  return (
    <span class={`search ${name}`}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        maxLength={MAX_STRING}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {value !== '' && <Button kind="quiet" small icon="close" label={t('Clear the search')} onClick={clear} />}
    </span>
  )
}
