import { type ComponentChildren, render } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { byId } from '../announce.ts'
import { Button } from './button.tsx'

interface Properties {
  title: string
  onClose: () => void
  children: ComponentChildren
  wide?: boolean
}

/** A modal dialog: the browser keeps the focus in it and closes it with Escape. */
export function Dialog({ title, onClose, children, wide }: Properties) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={ref} class={wide ? 'wide' : ''} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={() => ref.current?.close()} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

interface Question {
  title: string
  text: string
  /** What the button says that does it. */
  action: string
  kind?: 'primary' | 'danger'
}

/** Asks before something that is big, or cannot be taken back; true when it is wanted. */
export function confirmed({ title, text, action, kind = 'danger' }: Question): Promise<boolean> {
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
          <Button onClick={() => end(false)}>Cancel</Button>
          <Button kind={kind} onClick={() => end(true)}>
            {action}
          </Button>
        </div>
      </Dialog>,
      place,
    )
  })
}
