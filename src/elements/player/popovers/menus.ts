import { popovers } from '../../texts/en_popovers.ts'
import type { FirstPlayerTexts } from '../../texts/texts.ts'
import { Keys } from './keys.ts'
import type { Kit, MenuCommands, MenuModel, Panel } from './panel.ts'
import { SharePanel } from './share_panel.ts'
import { SleepPanel } from './sleep_panel.ts'
import { SpeedPanel } from './speed_panel.ts'

import css from './menus.css'

/**
 * The popovers of the player: speed, sleep timer, share, and a menu with the rest. They are loaded when one of them is first opened. Their
 * modules import no code of the player, because that would split the player's bundle: the player passes the shared functions as `Kit`.
 */

export { css }

export type MenuName = 'speed' | 'sleep' | 'share' | 'more'

/** Widths of the popovers in pixels. They are known before a popover opens, so it opens in its place. */
const WIDTHS: Record<MenuName, number> = { speed: 300, sleep: 232, share: 280, more: 320 }

export class Menus {
  readonly roots: HTMLElement[]
  readonly #kit: Kit
  readonly #openers: Record<MenuName, HTMLButtonElement>
  readonly #popovers: Record<MenuName, HTMLElement>
  readonly #panels: Record<MenuName, Panel>
  readonly #names = Object.keys(WIDTHS) as MenuName[]
  /** Entries of the menu for the controls that the layout hides. */
  readonly #hidden: [HTMLButtonElement, HTMLButtonElement][]
  readonly #remote: HTMLButtonElement
  readonly #rest: HTMLElement
  #time = 0

  constructor(kit: Kit, commands: MenuCommands, controls: Record<MenuName | 'download', HTMLButtonElement>) {
    const { element, button } = kit
    this.#kit = kit
    this.#openers = controls
    const { download } = controls
    const close = () => this.#close()
    const keys = new Keys(kit)
    this.#hidden = [
      ...(['speed', 'sleep', 'share'] as const).map((name): [HTMLButtonElement, HTMLButtonElement] => [
        controls[name],
        button('item', () => this.toggle(name)),
      ]),
      [download, button('item', () => (close(), download.click()))],
    ]
    this.#remote = button('item', () => (close(), commands.pickRemote()))
    this.#rest = element('div', { class: 'items' }, ...this.#hidden.map(([, item]) => item), this.#remote)
    const more: Panel = {
      root: element('div', {}, this.#rest, keys.root),
      update: (model) => {
        keys.update(model)
        this.#remote.textContent = model.texts.remote
        this.#remote.hidden = !model.hasRemote
      },
      onOpen: () => this.#listHidden(),
    }
    this.#panels = {
      speed: new SpeedPanel(kit, commands),
      sleep: new SleepPanel(kit, commands, close),
      share: new SharePanel(kit),
      more,
    }
    this.#popovers = Object.fromEntries(this.#names.map((name) => [name, this.#popover(name)])) as Record<
      MenuName,
      HTMLElement
    >
    this.roots = Object.values(this.#popovers)
  }

  #popover(name: MenuName): HTMLElement {
    const { root, onOpen } = this.#panels[name]
    const popover = this.#kit.element(
      'div',
      { class: `menu ${name}-menu`, part: 'menu', role: 'dialog', popover: 'auto' },
      root,
    )
    popover.addEventListener('beforetoggle', ({ newState }) => {
      if (newState !== 'open') return
      this.#panels[name].showTime?.(this.#time)
      onOpen?.call(this.#panels[name])
      const opener = this.#openers[name]
      place(popover, opener.checkVisibility() ? opener : this.#openers.more, WIDTHS[name])
    })
    popover.addEventListener('toggle', ({ newState }) => {
      if (newState === 'open') this.#focusTargets(popover)[0]?.focus()
    })
    popover.addEventListener('keydown', (event) => this.#onKey(popover, event))
    // From now on, the browser opens and closes the popover. With a click handler, a click on the button of an open popover would close it
    // and open it again.
    this.#openers[name].popoverTargetElement = popover
    return popover
  }

  /** Opens or closes a popover. */
  toggle(name: MenuName): void {
    this.#popovers[name].togglePopover()
  }

  /** Shows the state of the player. The bundle of the player lacks the English texts of the popovers. */
  update({ texts: first, ...others }: Omit<MenuModel, 'texts'> & { texts: FirstPlayerTexts }): void {
    const texts = { ...popovers, ...first }
    const model = { ...others, texts }
    const labels = { speed: texts.speed, sleep: texts.sleepTimer, share: texts.share, more: texts.more }
    for (const name of this.#names) {
      this.#kit.setAttributes(this.#popovers[name], { 'aria-label': labels[name] })
      this.#panels[name].update(model)
    }
    const names = [labels.speed, labels.sleep, labels.share, texts.download]
    for (const [i, [, item]] of this.#hidden.entries()) this.#kit.setText(item, names[i]!)
  }

  showTime(time: number): void {
    this.#time = time
    if (this.#popovers.share.matches(':popover-open')) this.#panels.share.showTime?.(time)
  }

  /** The menu contains the controls for which the layout has no room. */
  #listHidden(): void {
    for (const [control, item] of this.#hidden) item.hidden = control.hidden || control.checkVisibility()
    this.#rest.hidden = [...this.#rest.children].every((item) => (item as HTMLElement).hidden)
  }

  #close(): void {
    for (const popover of this.roots) popover.hidePopover()
  }

  #focusTargets(popover: HTMLElement): HTMLElement[] {
    const all = [...popover.querySelectorAll<HTMLElement>(':is(button, input, .keys):not([hidden], [hidden] *)')]
    return all.toSorted((a, b) => Number(b.ariaPressed === 'true') - Number(a.ariaPressed === 'true'))
  }

  /** The arrow keys move between buttons. In fields and sliders, they change the value. */
  #onKey(popover: HTMLElement, event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const target = event.composedPath()[0] as HTMLElement
    if (step === undefined || !target.matches('button')) return
    event.preventDefault()
    const buttons = [...popover.querySelectorAll<HTMLElement>('button:not([hidden], [hidden] *)')]
    buttons[buttons.indexOf(target) + step]?.focus()
  }
}

const EDGE = 8

/** Positions a popover above or below its button, or over the whole window if there is little space. */
function place({ style }: HTMLElement, anchor: HTMLElement, width: number): void {
  const { top, bottom, left, right } = anchor.getBoundingClientRect()
  const [above, below] = [top, innerHeight - bottom].map((room) => room - 2 * EDGE) as [number, number]
  const isTight = Math.max(above, below) < 200
  const isBelow = below >= Math.min(above, 320)
  const room = innerWidth - Math.min(width, innerWidth - 2 * EDGE) - EDGE
  style.width = `${width}px`
  const start = left + right < innerWidth ? left : right - width
  style.left = `${Math.max(EDGE, Math.min(start, room))}px`
  style.top = isTight ? `${EDGE}px` : isBelow ? `${bottom + EDGE}px` : 'auto'
  style.bottom = isTight || isBelow ? 'auto' : `${innerHeight - top + EDGE}px`
  style.maxHeight = `${isTight ? innerHeight - 2 * EDGE : isBelow ? below : above}px`
}
