import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

import { Icon, type IconName } from './icon.tsx'
import { placePopover } from './popover.ts'

export interface MenuItem {
  label: string
  onSelect: () => unknown
  danger?: boolean
  /** Whether the choice is active, if the item is one. */
  isChecked?: boolean
}

/** Returns the popover that all menus share, so that a long table does not contain a menu for each row. */
function popover(): HTMLElement {
  const found = document.getElementById('menu')
  if (found) return found
  const box = Object.assign(document.createElement('div'), { id: 'menu', className: 'menu', popover: 'auto' })
  box.role = 'menu'
  box.addEventListener('keydown', move)
  // Everything on a page belongs to a landmark.
  ;(document.querySelector('main') ?? document.body).append(box)
  return box
}

function move(event: KeyboardEvent): void {
  const buttons = [...popover().querySelectorAll('button')]
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }
  const target = steps[event.key]
  if (target === undefined) return
  event.preventDefault()
  buttons[(target + buttons.length) % buttons.length]?.focus()
}

/** Puts items into the menu, and the menu next to an element when it opens. */
function prepare(anchor: HTMLElement, label: string, items: MenuItem[]): HTMLElement {
  const box = popover()
  box.ariaLabel = label
  const list = items.map(({ label: text, onSelect, danger, isChecked }) => (
    <button
      key={text}
      type="button"
      role={isChecked === undefined ? 'menuitem' : 'menuitemcheckbox'}
      aria-checked={isChecked}
      class={danger ? 'danger' : ''}
      onClick={() => {
        box.hidePopover()
        onSelect()
      }}
    >
      {text}
    </button>
  ))
  render(<>{list}</>, box)
  function place() {
    placePopover(box, anchor, 'end')
    box.querySelector('button')?.focus({ preventScroll: true })
  }
  // The position is set before the paint; `toggle` is dispatched later.
  box.onbeforetoggle = (event) => {
    if (event.newState === 'open') requestAnimationFrame(place)
  }
  return box
}

/** Opens a menu next to an element. */
export const openMenu = (anchor: HTMLElement, label: string, items: MenuItem[]): void =>
  prepare(anchor, label, items).showPopover()

interface Properties {
  label: string
  /** The text of the button, if it is not only an icon. */
  text?: string
  /** The current choice, which the button shows after its icon. */
  current?: string
  items: MenuItem[] | (() => MenuItem[])
  icon?: IconName
  tabIndex?: number
}

/** A button that opens a menu. The browser closes a popover after Escape or a click outside. */
export function Menu({ label, text, current, items, icon = 'more', tabIndex }: Properties) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    // The browser then also closes the menu when the button is pressed again.
    if (button.current) button.current.popoverTargetElement = popover()
  }, [])
  return (
    <button
      ref={button}
      type="button"
      class={text ? 'button' : current ? 'button quiet' : 'button quiet bare'}
      aria-label={text ? undefined : current ? `${label}: ${current}` : label}
      aria-haspopup="menu"
      title={text ? undefined : label}
      tabIndex={tabIndex}
      onClick={({ currentTarget }) => prepare(currentTarget, label, typeof items === 'function' ? items() : items)}
    >
      <Icon name={icon} />
      {(text ?? current) && <span>{text ?? current}</span>}
    </button>
  )
}
