import { type ComponentChildren, createContext, render, type TargetedEvent } from 'preact'
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks'

import { byId } from './announce.ts'
import { Button } from './button.tsx'

interface Question {
  title: string
  text: string
  /** What the button says that does it. */
  action: string
  /** What the button says that does not. */
  cancel?: string
  kind?: 'primary' | 'danger'
}

/** What a dialog asks when it is closed with something typed into it. */
export const DISCARD: Question = {
  title: 'Discard what you entered?',
  text: 'It has not been saved.',
  action: 'Discard',
  cancel: 'Keep editing',
}

interface Properties {
  title: string
  onClose: () => void
  /** What is asked before it closes, as long as something would be lost. */
  asks?: Question | false | undefined
  children: ComponentChildren
  wide?: boolean
}

const Closing = createContext<() => unknown>(() => {})

/** The button of a dialog that only closes it. */
export const Cancel = ({ children = 'Cancel' }: { children?: ComponentChildren }) => (
  <Button onClick={useContext(Closing)}>{children}</Button>
)

/**
 * A modal dialog: the browser keeps the focus in it. It begins with the focus in its first field, and however it is closed, it asks
 * first where something would be lost. While its form is being sent it stays open, because the answer may be a secret.
 */
export function Dialog({ title, onClose, asks, children, wide }: Properties) {
  const ref = useRef<HTMLDialogElement>(null)
  const question = useRef(asks)
  question.current = asks
  const asking = useRef(false)
  const id = useId()
  const isSending = () => Boolean(ref.current?.querySelector('[aria-busy=true]'))
  const keeps = () => Boolean(question.current) || isSending()

  async function close() {
    if (asking.current || isSending()) return
    if (question.current) {
      asking.current = true
      const wanted = await confirmed(question.current)
      asking.current = false
      if (!wanted) {
        // The button that was pressed cannot take the focus back yet.
        if (!ref.current?.querySelector(':focus')) firstOf(ref.current)?.focus()
        return
      }
    }
    onClose()
  }
  function closeByKey(event: KeyboardEvent) {
    if (event.key !== 'Escape' || event.isComposing) return
    event.preventDefault()
    void close()
  }
  // At once, so that what is typed at once goes into it.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    firstOf(dialog)?.focus()
    const ended = new AbortController()
    const { signal } = ended
    addEventListener('beforeunload', (event) => keeps() && event.preventDefault(), { signal })
    // Going back closes the dialog, as Escape does, where it would take away what is in it.
    window.navigation?.addEventListener(
      'navigate',
      (event) => {
        if (event.navigationType !== 'traverse' || !event.cancelable || !keeps()) return
        event.preventDefault()
        void close()
      },
      { signal },
    )
    return () => {
      ended.abort()
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : ''}
      aria-labelledby={id}
      onKeyDown={closeByKey}
      onCancel={(event: TargetedEvent<HTMLDialogElement>) => {
        event.preventDefault()
        void close()
      }}
      onClose={() => {
        if (!ref.current) return
        if (!keeps()) return onClose()
        // Browsers let no page keep a dialog open when it is closed twice in a row.
        ref.current.showModal()
        void close()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={close} />
      </header>
      <div class="dialog-body">
        <Closing.Provider value={close}>{children}</Closing.Provider>
      </div>
    </dialog>
  )
}

/** Where the focus begins: in the first field, else on the first button, which in a question is the one that does nothing. */
const firstOf = (dialog: HTMLElement | null) =>
  dialog?.querySelector<HTMLElement>('.dialog-body :is(input, select)') ??
  dialog?.querySelector<HTMLElement>('.dialog-body button')

/** Asks before something that is big, or cannot be taken back; true when it is wanted. */
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
