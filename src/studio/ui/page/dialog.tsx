import { type ComponentChildren, createContext, render, type TargetedEvent } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'

import { t, text } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { useUniqueId } from '../controls/id.ts'
import { byId, placeToast } from './announce.ts'

interface Question {
  title: string
  text: string
  /** The label of the button that confirms. */
  action: string
  /** The label of the button that cancels. */
  cancel?: string
  kind?: 'primary' | 'danger'
}

/** The question before a dialog closes whose fields have changed. */
export const DISCARD: Question = {
  title: text('Discard what you entered?'),
  text: text('It has not been saved.'),
  action: text('Discard'),
  cancel: text('Keep editing'),
}

/** `DISCARD` is a constant, so it is translated when it is shown. */
const translated = ({ title, text, action, cancel, ...rest }: Question): Question => ({
  ...rest,
  title: t(title),
  text: t(text),
  action: t(action),
  ...(cancel && { cancel: t(cancel) }),
})

interface Properties {
  title: string
  onClose: () => void
  /** The question before the dialog closes, if input would be lost. */
  asks?: Question | false | undefined
  children: ComponentChildren
  /** Large dialogs have two columns in a wide window. */
  size?: 'large'
}

const Closing = createContext<() => unknown>(() => {})

/** The button that closes a dialog. */
export const Cancel = ({ children = t('Cancel') }: { children?: ComponentChildren }) => (
  <Button onClick={useContext(Closing)}>{children}</Button>
)

/**
 * A modal dialog. The browser keeps the focus in it, and its first field is focused. It asks for confirmation before it closes if input would be
 * lost. It stays open while its form is being sent, because the response may contain a secret.
 */
export function Dialog({ title, onClose, asks, children, size }: Properties) {
  const ref = useRef<HTMLDialogElement>(null)
  const question = useRef(asks)
  question.current = asks
  const asking = useRef(false)
  const isLeaving = useRef(false)
  const id = useUniqueId()
  const isSending = () => Boolean(ref.current?.querySelector('[aria-busy=true]'))
  const keeps = () => !isLeaving.current && (Boolean(question.current) || isSending())

  async function close() {
    if (asking.current || isSending()) return
    if (question.current) {
      asking.current = true
      const wanted = await confirmed(translated(question.current))
      asking.current = false
      if (!wanted) {
        // The button that was pressed is disabled until its handler ends, so it cannot take the focus back.
        if (!ref.current?.querySelector(':focus')) firstOf(ref.current)?.focus()
        return
      }
    }
    // `onClose` may go back in the history, which must not ask again.
    isLeaving.current = true
    onClose()
  }
  function closeByKey(event: KeyboardEvent) {
    if (event.key !== 'Escape' || event.isComposing) return
    event.preventDefault()
    void close()
  }
  // The focus moves before the paint, so that the first key press reaches the field.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    placeToast()
    firstOf(dialog)?.focus()
    const ended = new AbortController()
    const { signal } = ended
    guard(keeps, close, signal)
    return () => {
      ended.abort()
      dialog?.close()
      placeToast()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={size}
      aria-labelledby={id}
      onKeyDown={closeByKey}
      onCancel={(event: TargetedEvent<HTMLDialogElement>) => {
        event.preventDefault()
        void close()
      }}
      onClose={() => {
        if (!ref.current) return
        if (!keeps()) return onClose()
        // Browsers close a dialog at the second Escape in a row, even if the page prevents it.
        ref.current.showModal()
        void close()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label={t('Close')} onClick={close} />
      </header>
      <div class="dialog-body">
        <Closing.Provider value={close}>{children}</Closing.Provider>
      </div>
    </dialog>
  )
}

/** Asks before the page ends while a dialog has input. Going back closes the dialog like Escape does, instead of leaving the page. */
function guard(keeps: () => boolean, close: () => Promise<void>, signal: AbortSignal): void {
  addEventListener('beforeunload', (event) => keeps() && event.preventDefault(), { signal })
  window.navigation?.addEventListener(
    'navigate',
    (event) => {
      if (event.navigationType !== 'traverse' || !event.cancelable || !keeps()) return
      event.preventDefault()
      void close()
    },
    { signal },
  )
}

/** Returns the button that a dialog marks, the first field, or else the first button, which cancels a question. */
const firstOf = (dialog: HTMLElement | null) =>
  dialog?.querySelector<HTMLElement>('.dialog-body [data-first] button') ??
  dialog?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)') ??
  dialog?.querySelector<HTMLElement>('.dialog-body button')

/** Asks for confirmation. Resolves to true if the user confirms. */
export function confirmed({ title, text, action, cancel, kind = 'danger' }: Question): Promise<boolean> {
  const place = document.createElement('div')
  byId('app').after(place)
  return new Promise((resolve) => {
    const end = (wanted: boolean) => {
      render(null, place)
      place.remove()
      resolve(wanted)
    }
    render(
      <Dialog title={title} onClose={() => end(false)}>
        <p>{text}</p>
        <div class="actions end">
          <Cancel>{cancel}</Cancel>
          <Button kind={kind} onClick={() => end(true)}>
            {action}
          </Button>
        </div>
      </Dialog>,
      place,
    )
  })
}
