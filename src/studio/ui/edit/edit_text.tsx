import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

import { MAX_STRING } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'
import { Icon } from '../controls/icon.tsx'
import { announce } from '../page/announce.ts'
import { Conflict } from './conflict.tsx'
import { Edit, type EditOptions } from './edit.ts'

/** Milliseconds after which a text that could not be sent is sent again. */
const AGAIN = 5000

interface Properties extends Omit<EditOptions, 'key'> {
  draft: string
  /** The name of the field, such as `Title`. */
  label: string
  value: string
  /** Shown if the value is empty. */
  placeholder: string
  /** Whether the text is the heading of the page. */
  isHeading?: boolean
}

/** A text that is edited in place: a click or Enter starts, Enter or leaving the field saves, Escape restores it. */
export function EditText({ draft, label, value, placeholder, isHeading, ...options }: Properties) {
  const Text = isHeading ? 'h1' : 'p'
  const edit = useEdit(value, { key: draft, ...options })
  const button = useRef<HTMLButtonElement>(null)
  const end = (work: () => unknown) => {
    void work()
    // The field has disappeared, so its focus would be lost.
    if (!edit.isEditing) requestAnimationFrame(() => button.current?.focus())
  }
  return (
    <div class="edit">
      <Text>
        {edit.isEditing ? (
          <EditField edit={edit} label={label} placeholder={placeholder} end={end} />
        ) : (
          <button
            ref={button}
            type="button"
            class="editable"
            title={t('Edit: {label}', { label })}
            onClick={() => edit.begin()}
          >
            <span class={edit.shown ? '' : 'soft'} dir="auto">
              {edit.shown || placeholder}
            </span>
            <Icon name="edit" />
          </button>
        )}
      </Text>
      <EditNotice edit={edit} />
    </div>
  )
}

/** Returns the editing of a text. It continues when the component disappears, and the draft is sent when the page ends. */
function useEdit(value: string, options: EditOptions): Edit {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const [edit] = useState(() => new Edit(value, options))
  edit.value = value
  edit.options = options
  useEffect(() => {
    edit.onChange = () => redraw()
    edit.resume()
    const flush = () => edit.flush()
    addEventListener('pagehide', flush)
    return () => {
      removeEventListener('pagehide', flush)
      edit.onChange = () => edit.problem && announce(t('Not saved: {problem}', { problem: edit.problem }))
      if (edit.isEditing) void edit.commit()
    }
  }, [edit])
  useEffect(() => {
    if (edit.state !== 'failed') return
    const send = () => void edit.send()
    const timer = setTimeout(send, AGAIN)
    addEventListener('online', send)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', send)
    }
  }, [edit.state])
  return edit
}

interface FieldProperties extends Pick<Properties, 'label' | 'placeholder'> {
  edit: Edit
  end: (work: () => unknown) => void
}

function EditField({ edit, label, placeholder, end }: FieldProperties) {
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  // The field is as high as its text.
  useLayoutEffect(() => {
    const element = field.current
    if (!element) return
    element.style.blockSize = '0'
    element.style.blockSize = `${element.scrollHeight}px`
  }, [edit.text])
  return (
    <textarea
      ref={field}
      rows={1}
      dir="auto"
      aria-label={label}
      aria-invalid={edit.problem ? true : undefined}
      placeholder={placeholder}
      maxLength={MAX_STRING}
      value={edit.text}
      onInput={({ currentTarget }) => edit.type(currentTarget.value.replaceAll(/\s*\n\s*/g, ' '))}
      onBlur={() => edit.isEditing && void edit.commit()}
      onKeyDown={(event) => {
        if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
        event.preventDefault()
        event.stopPropagation()
        end(() => (event.key === 'Enter' ? edit.commit() : edit.cancel()))
      }}
    />
  )
}

/** Says what happens to the text: whether it is saved, why not, or that someone else has changed the value. */
function EditNotice({ edit }: { edit: Edit }) {
  const { state, problem } = edit
  if (state === 'conflict') {
    return (
      <Conflict onMine={() => edit.send()} onTheirs={() => edit.cancel()}>
        {t('Someone else has changed this to “{value}”. You typed “{text}”.', { value: edit.value, text: edit.text })}
      </Conflict>
    )
  }
  return (
    <>
      <p class={state === 'saved' ? 'edit-note visually-hidden' : 'edit-note soft'} role="status">
        {state === 'saving' ? t('Saving …') : state === 'saved' ? t('Saved') : ''}
      </p>
      {problem && (
        <p class="edit-note error" role="alert">
          {state === 'failed' ? t('Not saved yet, but it is sent again. {problem}', { problem }) : problem}
        </p>
      )}
    </>
  )
}
