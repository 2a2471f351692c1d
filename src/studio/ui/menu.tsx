import { useId, useRef } from 'preact/hooks'

import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  label: string
  onSelect: () => unknown
  danger?: boolean
}

/** A button that opens a menu. The browser closes a popover after Escape or a click outside. */
export function Menu({ label, items, icon = 'more' }: { label: string; items: MenuItem[]; icon?: IconName }) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)

  function place() {
    const [anchor, box] = [button.current?.getBoundingClientRect(), list.current]
    if (!anchor || !box) return
    const below = anchor.bottom + 4
    const fits = below + box.offsetHeight < innerHeight
    box.style.top = `${Math.max(8, fits ? below : anchor.top - 4 - box.offsetHeight)}px`
    box.style.left = `${Math.max(8, Math.min(anchor.right - box.offsetWidth, innerWidth - box.offsetWidth - 8))}px`
    box.querySelector('button')?.focus({ preventScroll: true })
  }
  function move(event: KeyboardEvent) {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }
    const target = steps[event.key]
    if (target === undefined) return
    event.preventDefault()
    buttons[(target + buttons.length) % buttons.length]?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button quiet bare"
        aria-label={label}
        aria-haspopup="menu"
        popovertarget={id}
        title={label}
      >
        <Icon name={icon} />
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        // The position is set before the paint; `toggle` is dispatched later.
        onBeforeToggle={(event) => event.newState === 'open' && requestAnimationFrame(place)}
        onKeyDown={move}
      >
        {items.map(({ label: text, onSelect, danger }) => (
          <button
            key={text}
            type="button"
            role="menuitem"
            class={danger ? 'danger' : ''}
            onClick={() => {
              list.current?.hidePopover()
              onSelect()
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  )
}
