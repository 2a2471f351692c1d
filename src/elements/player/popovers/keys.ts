import type { PlayerTexts } from '../../texts/texts.ts'
import type { Kit, MenuModel, Panel } from './panel.ts'

/** The list of keys, in the menu. */
export class Keys implements Panel {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #title: HTMLElement
  readonly #list: HTMLElement
  /** The texts that are rendered, as a key with which changes are detected. */
  #rendered = ''

  constructor(kit: Kit) {
    this.#kit = kit
    this.#title = kit.element('h2')
    this.#list = kit.element('dl')
    this.root = kit.element('div', { class: 'keys', tabindex: 0, role: 'group' }, this.#title, this.#list)
  }

  update({ texts, skip }: MenuModel): void {
    const key = JSON.stringify([texts, skip])
    if (key === this.#rendered) return
    this.#rendered = key
    const { element } = this.#kit
    this.#title.textContent = texts.keys
    this.#kit.setAttributes(this.root, { 'aria-label': texts.keys })
    this.#list.replaceChildren(
      ...keysOf(texts, skip, this.#kit.fill).flatMap(([keys, text]) => [
        element('dt', {}, ...keys.split(' ').map((each) => element('kbd', {}, each))),
        element('dd', {}, text),
      ]),
    )
  }
}

/** Returns the keys with their descriptions, which are composed of the labels of the buttons. */
function keysOf(
  texts: PlayerTexts,
  [back, forward]: readonly [number, number],
  fill: Kit['fill'],
): [keys: string, text: string][] {
  const both = (a: string, b: string) => `${a} / ${b}`
  const move = (a: number, b: number) => both(fill(texts.back, { seconds: a }), fill(texts.forward, { seconds: b }))
  return [
    ['␣ K', both(texts.play, texts.pause)],
    ['← →', move(5, 5)],
    ['J L', move(back, forward)],
    ['↑ ↓', texts.volume],
    ['M', both(texts.mute, texts.unmute)],
    ['P N', both(texts.previous, texts.next)],
    ['[ ]', both(texts.previousChapter, texts.nextChapter)],
    ['?', texts.keys],
  ]
}
