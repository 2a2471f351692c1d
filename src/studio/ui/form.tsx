import { createContext, type FormHTMLAttributes } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { useOnce } from './once.ts'

/** Whether the form around a button is being sent. */
export const Sending = createContext(false)

interface Properties extends Omit<FormHTMLAttributes, 'onSubmit'> {
  onSubmit: () => Promise<unknown>
}

/** A form; until what it sends is answered, it cannot be sent again. A field that was refused gets the focus then. */
export function Form({ onSubmit, children, ...attributes }: Properties) {
  const form = useRef<HTMLFormElement>(null)
  const [sending, once] = useOnce()
  useEffect(() => {
    if (!sending) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
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
