import type { State } from '../../client/playback/state.ts'
import { button, element, setAttributes, setText } from '../shared/dom.ts'
import type { FirstPlayerTexts } from '../texts/texts.ts'

/** The codes of failures that another attempt does not solve. */
const FINAL = /^(not_found|unauthorized|insufficient_scope|origin_not_allowed)$/

interface Shown {
  state: State
  texts: FirstPlayerTexts
  problem: string | null
}
interface Commands {
  toggle: () => void
  retry: () => void
}

/** The message about a problem, with the only button of a player that cannot play. */
export class StatusLine {
  readonly root: HTMLElement
  readonly #commands: Commands
  readonly #message = element('span')
  readonly #help = element('span', { class: 'help' })
  readonly #retry = button('retry', () => this.#again())
  #status: State['status'] = 'loading'

  constructor(commands: Commands) {
    this.#commands = commands
    this.root = element(
      'div',
      { part: 'status', class: 'status', role: 'status' },
      element('p', {}, this.#message, this.#help),
      this.#retry,
    )
  }

  update({ state, texts, problem }: Shown): void {
    const { status, code, session } = state
    this.#status = status
    const text = messageOf(state, texts) || (problem ? (texts.errors[problem] ?? texts.status.offline) : '')
    // `setText` writes only if the text changes, because screen readers repeat text that is written again.
    setText(this.#message, text)
    setText(this.#help, status === 'expired' ? texts.expiredHelp : '')
    setAttributes(this.root, { hidden: !text })
    setText(this.#retry, status === 'expired' ? texts.reload : texts.retry)
    const canRetry = status === 'failed' ? !FINAL.test(code ?? '') : status === 'empty' ? session : status === 'expired'
    setAttributes(this.#retry, { hidden: !canRetry })
  }

  #again(): void {
    if (this.#status === 'expired') location.reload()
    else if (this.#status === 'empty') this.#commands.toggle()
    else this.#commands.retry()
  }
}

/** Whether nothing of the session can be played. The player then shows the reason, and hides its controls. */
export const isOver = ({ status, session }: State) =>
  status === 'expired' || status === 'empty' || (status === 'failed' && !(session && session.tracks.length > 1))

/** Returns the message to show: the text for the error code if there is one, otherwise the text for the status. Empty if there is no problem. */
function messageOf({ status, code }: State, texts: FirstPlayerTexts): string {
  if (status === 'ready' || status === 'loading') return ''
  return (status === 'failed' && code && texts.errors[code]) || texts.status[status]
}
