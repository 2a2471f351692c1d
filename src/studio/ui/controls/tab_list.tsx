import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

import { useUniqueId } from './id.ts'

interface Properties<T extends string> {
  label: string
  current: T
  tabs: readonly (readonly [tab: T, label: ComponentChildren])[]
  onChange: (tab: T) => void
  /** The current panel. */
  children: ComponentChildren
}

/** Tabs without an address, in a dialog or a page. The arrow keys choose one. */
export function TabList<T extends string>({ label, current, tabs, onChange, children }: Properties<T>) {
  const id = useUniqueId()
  const list = useRef<HTMLDivElement>(null)
  const at = tabs.findIndex(([tab]) => tab === current)
  function move(event: KeyboardEvent) {
    const isForward = (event.key === 'ArrowRight') !== (document.documentElement.dir === 'rtl')
    if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return
    event.preventDefault()
    const next = (at + (isForward ? 1 : tabs.length - 1)) % tabs.length
    onChange(tabs[next]![0])
    list.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <>
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(([tab, text]) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-selected={tab === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onChange(tab)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </>
  )
}
