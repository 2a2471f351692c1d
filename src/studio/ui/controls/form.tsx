import { createContext, type FormHTMLAttributes } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { useOnce } from './once.ts'

/** Whether the surrounding form is being sent. */
export const Sending = createContext(false)

interface Properties extends Omit<FormHTMLAttributes, 'onSubmit'> {
  onSubmit: () => Promise<unknown>
}

/** A form. It cannot be sent again until the response arrives. Then the first invalid field gets the focus, or the first button if the pressed one is gone. */
export function Form({ onSubmit, children, ...attributes }: Properties) {
  const form = useRef<HTMLFormElement>(null)
  const [sending, once] = useOnce()
  const wasSending = useRef(false)
  useEffect(() => {
    if (wasSending.current && !sending) {
      const isLost = document.activeElement === document.body
      const wanted = `[aria-invalid=true]${isLost ? ', .actions .button:enabled' : ''}`
      form.current?.querySelector<HTMLElement>(wanted)?.focus()
    }
    wasSending.current = sending
  }, [sending])
  return (
    <form
      {...attributes}
      ref={form}
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault()
        void once(onSubmit)
      }}
    >
      <Sending.Provider value={sending}>{children}</Sending.Provider>
    </form>
  )
}
