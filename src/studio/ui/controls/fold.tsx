import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface Properties {
  title: ComponentChildren
  /** The class of the part, if it looks different. */
  kind?: string
  /** A short value at the end of the line, such as the current setting. */
  note?: ComponentChildren
  isOpen?: boolean
  children: ComponentChildren
}

/** A part of a page that is closed at first. Its content is rendered when it is opened. */
export function Fold({ title, kind = '', note, isOpen = false, children }: Properties) {
  const [wasOpen, setWasOpen] = useState(isOpen)
  return (
    <details
      class={`fold ${kind}`}
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && setWasOpen(true)}
    >
      <summary>
        <span>{title}</span>
        {note && <span class="fold-note">{note}</span>}
      </summary>
      {wasOpen && <div class="fold-content">{children}</div>}
    </details>
  )
}
