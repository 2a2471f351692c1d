import type { Clip } from '../../client/playback/state.ts'
import { formatClock } from '../shared/clock.ts'
import { button, element, setAttributes, setLabel, setText } from '../shared/dom.ts'
import type { FirstPlayerTexts } from '../texts/texts.ts'

/** The button that shows which part of the track is played, and leaves it. */
export class ClipButton {
  readonly root: HTMLButtonElement
  readonly #part = element('b')

  constructor(leave: () => void) {
    this.root = button('button clip-button', leave, element('span', {}, this.#part))
  }

  update(clip: Clip | null, duration: number, texts: FirstPlayerTexts): void {
    setAttributes(this.root, { hidden: !clip })
    if (!clip) return
    const end = Math.min(clip.end, duration || Infinity)
    const part = [clip.start, end].map(formatClock).join(' – ')
    setText(this.#part, part)
    setLabel(this.root, `${part}: ${texts.leaveClip}`)
  }
}
