import type { Kit, MenuCommands, MenuModel, Panel } from './panel.ts'

const CHOICES = [null, 15, 30, 45, 60, 'track'] as const
type Choice = (typeof CHOICES)[number]

/** The times after which the sleep timer pauses playback. */
export class SleepPanel implements Panel {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #items: [button: HTMLButtonElement, text: HTMLElement, until: HTMLElement][]
  /** The minutes that were chosen here. */
  #chosen: Choice = null

  constructor(kit: Kit, commands: MenuCommands, close: () => void) {
    const { element, button } = kit
    this.#kit = kit
    this.#items = CHOICES.map((choice) => {
      const [text, until] = [element('span'), element('span', { class: 'until' })]
      const choose = () => {
        this.#chosen = choice
        commands.sleep(choice)
        close()
      }
      return [button('item', choose, text, until), text, until]
    })
    this.root = element('div', { class: 'items checked' }, ...this.#items.map(([item]) => item))
  }

  update({ state: { sleep }, texts, locale }: MenuModel): void {
    const { setAttributes, setText, fill } = this.#kit
    const chosen: Choice = typeof sleep === 'number' ? this.#chosen : sleep
    for (const [i, [item, text, until]] of this.#items.entries()) {
      const choice = CHOICES[i]!
      const isChosen = choice === chosen
      const minutes = typeof choice === 'number' && fill(texts.minutes, { minutes: choice })
      setText(text, minutes || (choice === null ? texts.off : texts.endOfTrack))
      setAttributes(item, { 'aria-pressed': String(isChosen) })
      const end = isChosen && typeof sleep === 'number'
      setText(until, end ? new Date(sleep).toLocaleTimeString(locale, { timeStyle: 'short' }) : '')
    }
  }
}
