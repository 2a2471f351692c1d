import { createContext, type FormHTMLAttributes } from 'preact'

import { useOnce } from '../state/once.ts'

/** Whether the form around a button is being sent. */
export const Sending = createContext(false)

interface Properties extends Omit<FormHTMLAttributes, 'onSubmit'> {
  onSubmit: () => Promise<unknown>
}

/** A form; until what it sends is answered, it cannot be sent again. */
export function Form({ onSubmit, children, ...attributes }: Properties) {
  const [sending, once] = useOnce()
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault()
        void once(onSubmit)
      }}
    >
      <Sending.Provider value={sending}>{children}</Sending.Provider>
    </form>
  )
}
