import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { Field } from './field.tsx'
import { Icon } from './icon.tsx'
import { useUniqueId } from './id.ts'
import { OptionList } from './option_list.tsx'
import { matches, type Option, type Options, startingWith, step } from './options.ts'
import { placePopover } from './popover.ts'

/** The number of options from which the list has a field to search it. */
const SEARCHED_FROM = 10
/** Milliseconds after which a letter starts another word. */
const PAUSE = 700
const OPENING = ['ArrowDown', 'ArrowUp', 'Enter', ' ']

interface Properties {
  /** The id of the button, to which the label belongs (`{id}-label`). */
  id: string
  value: string
  options: Options
  /** More options, below the others. Empty groups are left out. */
  groups?: readonly { label: string; options: Options }[] | undefined
  onChange: (value: string) => void
  /** The id of the hint or the error. */
  described?: string | undefined
  isInvalid?: boolean
}

/**
 * A button that opens a list, one option of which is chosen. The keys are those of the ARIA pattern of a combobox that only selects: arrows, Home, End,
 * letters, Enter and Escape. A long list has a field that searches it, which then has the focus.
 */
function Select({ id, value, described, isInvalid = false, ...choice }: Properties) {
  const { list, refs, isOpen, isSearched, shown, at, words, search, mark, toggled, left, press, choose } = useList({
    value,
    ...choice,
  })
  const label = `${id}-label`
  const combobox = {
    role: 'combobox',
    'aria-controls': isOpen ? list : undefined,
    'aria-expanded': isOpen,
    'aria-activedescendant': isOpen && at >= 0 ? `${list}-${at}` : undefined,
    'aria-labelledby': label,
    onKeyDown: press,
  } as const
  const chosen = optionsOf(choice).find((option) => option.value === value)
  return (
    <>
      <button
        ref={refs.button}
        id={id}
        type="button"
        class="select"
        {...combobox}
        aria-haspopup="listbox"
        aria-describedby={described}
        aria-invalid={isInvalid || undefined}
        popovertarget={`${list}-box`}
        // Firefox presses a button when Space is released.
        onKeyUp={(event) => event.key === ' ' && event.preventDefault()}
      >
        <span>
          <bdi>{chosen?.label}</bdi>
        </span>
        <Icon name="down" />
      </button>
      <div
        ref={refs.box}
        id={`${list}-box`}
        class="list-box"
        popover="auto"
        onBeforeToggle={({ newState }) => toggled(newState === 'open')}
        onFocusOut={({ relatedTarget }) => left(relatedTarget)}
        // The focus stays where it is.
        onMouseDown={(event) => event.target !== refs.field.current && event.preventDefault()}
      >
        {isOpen && isSearched && (
          <input
            ref={refs.field}
            {...combobox}
            aria-autocomplete="list"
            placeholder={t('Search')}
            autocomplete="off"
            value={words}
            onInput={({ currentTarget }) => search(currentTarget.value)}
          />
        )}
        {isOpen && (
          <OptionList
            id={list}
            labeledBy={label}
            options={shown}
            value={value}
            at={at}
            onMark={mark}
            onChoose={choose}
          />
        )}
        {isOpen && shown.length === 0 && <p class="soft">{t('Nothing found')}</p>}
      </div>
    </>
  )
}

interface FieldProperties {
  label: string
  value: string
  options: Options
  /** More options, below the others. Empty groups are left out. */
  groups?: readonly { label: string; options: Options }[]
  onChange: (value: string) => void
  hint?: ComponentChildren
  error?: string | undefined
}

/** A select with its label. */
export const SelectField = ({ label, hint, error, ...rest }: FieldProperties) => (
  <Field label={label} hint={hint} error={error}>
    {(id, described) => <Select id={id} described={described} isInvalid={error !== undefined} {...rest} />}
  </Field>
)

type Choice = Pick<Properties, 'value' | 'options' | 'groups' | 'onChange'>

const optionsOf = ({ options, groups = [] }: Pick<Choice, 'options' | 'groups'>): Option[] =>
  [{ label: '', options }, ...groups].flatMap((group) =>
    group.options.map(([value, label]) => ({ value, label, group: group.label })),
  )

/** The state of the list, which is open or closed, and the marked option. */
function useList({ value, onChange, ...choice }: Choice) {
  const [isOpen, setOpen] = useState(false)
  const [words, setWords] = useState('')
  const [marked, setMarked] = useState(-1)
  const button = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const refs = { button, box, field }
  const typed = useRef({ text: '', until: 0 })
  const list = useUniqueId()
  const all = optionsOf(choice)
  const isSearched = all.length >= SEARCHED_FROM
  const shown = all.filter(({ label }) => matches(label, words))
  const at = Math.min(marked, shown.length - 1)

  const close = () => box.current?.hidePopover()
  function choose(option: Option | undefined) {
    close()
    button.current?.focus()
    if (option && option.value !== value) onChange(option.value)
  }
  function toggled(isNow: boolean) {
    setOpen(isNow)
    setWords('')
    if (isNow) setMarked(all.findIndex((option) => option.value === value))
  }
  function search(text: string | ((before: string) => string)) {
    setWords(text)
    setMarked(0)
  }
  function left(target: EventTarget | null) {
    if (target !== button.current && !box.current?.contains(target as Node)) close()
  }
  usePlace(isOpen, refs)
  useLayoutEffect(() => {
    const scroll = () => document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' })
    if (isOpen) requestAnimationFrame(scroll)
  }, [isOpen, at])

  /** Marks the option that starts with the letters of the last moment. */
  function find(letter: string, now: number) {
    typed.current = { text: now < typed.current.until ? typed.current.text + letter : letter, until: now + PAUSE }
    const found = startingWith(shown, typed.current.text, at)
    if (found >= 0) setMarked(found)
  }
  /** Returns whether the key means something here. */
  function handle({ key, timeStamp, target }: KeyboardEvent): boolean {
    const hasWords = timeStamp < typed.current.until || (isOpen && isSearched)
    const isWord = key.length === 1 && (key !== ' ' || hasWords)
    if (!isOpen && !isWord && !OPENING.includes(key)) return false
    if (!isOpen) box.current?.showPopover()
    else if (key === 'Escape') choose(undefined)
    else if (key === 'Enter' || (key === ' ' && !isWord)) choose(shown[at])
    else {
      const next = step(key, at, shown.length, !isSearched)
      if (next !== null) setMarked(next)
      else if (target === field.current || !isWord) return false
    }
    if (isWord && !isSearched) find(key, timeStamp)
    // These letters come before the field has the focus.
    else if (isWord) search((before) => before + key)
    return true
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Tab') return close()
    if (event.ctrlKey || event.metaKey || event.isComposing || !handle(event)) return
    event.preventDefault()
    // A dialog closes with Escape too.
    event.stopPropagation()
  }
  const keys = { press, search, mark: setMarked, choose }
  return { list, refs, isOpen, isSearched, shown, at, words, toggled, left, ...keys }
}

type Refs = Record<'button' | 'box' | 'field', RefObject<HTMLElement | null>>

/** Places the open list next to its button, and focuses the field that searches it. */
function usePlace(isOpen: boolean, { button, box, field }: Refs): void {
  useLayoutEffect(() => {
    const element = box.current
    if (!isOpen || !element) return undefined
    const place = () => button.current && placePopover(element, button.current, 'start')
    // The browser shows the list after this.
    const frame = requestAnimationFrame(() => {
      place()
      field.current?.focus({ preventScroll: true })
    })
    // The list stays next to its button while a page or a dialog scrolls.
    const follow = ({ target }: Event) => element.contains(target as Node) || place()
    addEventListener('scroll', follow, { capture: true })
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', follow, { capture: true })
    }
  }, [isOpen])
}
