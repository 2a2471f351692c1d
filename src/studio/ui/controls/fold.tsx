import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface Properties {
  title: string
  isOpen?: boolean
  children: ComponentChildren
}

/** A part of a page that is closed at first. Its content is rendered when it is opened. */
export function Fold({ title, isOpen = false, children }: Properties) {
  const [wasOpen, setWasOpen] = useState(isOpen)
  return (
    <details class="fold" open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setWasOpen(true)}>
      <summary>{title}</summary>
      {wasOpen && children}
    </details>
  )
}
