import type { Kit, MenuCommands, MenuModel, Panel } from './panel.ts'

const [SLOWEST, FASTEST] = [0.5, 2]
const MARKS = [SLOWEST, 1, 1.2, 1.5, FASTEST]
const partOf = (rate: number) => String((rate - SLOWEST) / (FASTEST - SLOWEST))

/** A slider for the speed, with marks that can be pressed. */
export class SpeedPanel implements Panel {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #value: HTMLElement
  readonly #slider: HTMLInputElement
  readonly #marks: HTMLButtonElement[]

  constructor(kit: Kit, commands: MenuCommands) {
    const { element, button } = kit
    this.#kit = kit
    this.#value = element('p', { class: 'value', 'aria-hidden': 'true' })
    this.#slider = element('input', { type: 'range', class: 'range', min: SLOWEST, max: FASTEST, step: 0.05 })
    this.#slider.addEventListener('input', () => commands.setRate(Number(this.#slider.value)))
    this.#marks = MARKS.map((rate) => {
      const mark = button('mark-button', () => commands.setRate(rate))
      mark.style.setProperty('--_at', partOf(rate))
      return mark
    })
    // A speed rises from left to right in all languages, like the numbers on an axis.
    this.root = element(
      'div',
      { dir: 'ltr' },
      this.#value,
      this.#slider,
      element('div', { class: 'marks' }, ...this.#marks),
    )
  }

  update({ options: { rate }, texts, locale }: MenuModel): void {
    const { setAttributes, setText } = this.#kit
    const format = new Intl.NumberFormat(locale)
    const text = `${format.format(rate)}×`
    setText(this.#value, text)
    this.#slider.value = String(rate)
    this.#slider.style.setProperty('--_value', partOf(rate))
    setAttributes(this.#slider, { 'aria-label': texts.speed, 'aria-valuetext': text })
    for (const [i, mark] of this.#marks.entries()) {
      setText(mark, format.format(MARKS[i]!))
      setAttributes(mark, { 'aria-pressed': String(MARKS[i] === rate) })
    }
  }
}
