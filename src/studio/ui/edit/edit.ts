import { isTransient } from '../../../client/retry.ts'
import type { Failure } from '../../base/api.ts'
import { sentence } from '../../base/format.ts'
import { failureText, t } from '../../base/text.ts'
import { draftOf, keepDraft } from './drafts.ts'

/**
 * `failed` means that the service could not be reached, and that the text is sent again. `conflict` means that someone else has changed the value
 * since the editing started.
 */
export type EditState = 'shown' | 'editing' | 'saving' | 'saved' | 'failed' | 'conflict'

export interface EditOptions {
  /** Names the draft in the session storage, such as `track/{id}/title`. */
  key: string
  isRequired?: boolean | undefined
  /** Resolves to the failure, if there is one. `version_mismatch` means that the value that was read before has changed. */
  save: (text: string) => Promise<Failure | undefined>
}

/** The editing of one text: it is kept in the session storage until the service has confirmed it. */
export class Edit {
  state: EditState = 'shown'
  /** The text that is being typed or saved. */
  text = ''
  problem = ''
  /** The value as it is saved. */
  value: string
  options: EditOptions
  onChange: () => void = () => {}
  /** The value when the editing started. */
  #base = ''
  /** Increases with each save, and when the text is edited again meanwhile. */
  #turn = 0
  #saved: Promise<unknown> = Promise.resolve()

  constructor(value: string, options: EditOptions) {
    this.value = value
    this.options = options
  }

  /** The text to show. */
  get shown(): string {
    return this.state === 'shown' || this.state === 'saved' ? this.value : this.text
  }

  get isEditing(): boolean {
    return this.state === 'editing'
  }

  /** Continues with the draft of an earlier page, unless the service has it already. */
  resume(): void {
    const draft = draftOf(this.options.key)
    if (!draft) return
    if (draft.text === this.value) return keepDraft(this.options.key, null)
    this.text = draft.text
    this.#base = draft.base
    if (draft.base === this.value) void this.commit()
    else this.#enter('conflict')
  }

  begin(): void {
    this.#base = this.value
    this.text = this.shown
    this.#turn++
    this.#enter('editing')
  }

  type(text: string): void {
    this.text = text
    keepDraft(this.options.key, { text, base: this.#base })
    this.#enter('editing')
  }

  cancel(): void {
    keepDraft(this.options.key, null)
    this.#turn++
    this.#enter('shown')
  }

  /** Saves the text, or ends the editing if nothing has changed. */
  async commit(): Promise<void> {
    const text = this.text.trim()
    if (text === '' && this.options.isRequired) return this.#enter('editing', t('This must not be empty.'))
    if (text === this.value) return this.cancel()
    this.text = text
    keepDraft(this.options.key, { text, base: this.#base })
    await this.send()
  }

  /** Sends the text, after the previous one. */
  async send(): Promise<void> {
    const turn = ++this.#turn
    const { text } = this
    this.#enter('saving')
    const saved = this.#saved.then(() => this.options.save(text))
    this.#saved = saved
    const failure = await saved
    if (turn !== this.#turn) return
    if (!failure) {
      keepDraft(this.options.key, null)
      return this.#enter('saved')
    }
    if (failure.code === 'version_mismatch') return this.#enter('conflict')
    const problem = sentence(failure.errors?.[0]?.message ?? failureText(failure))
    this.#enter(isTransient(failure) ? 'failed' : 'editing', problem)
  }

  /** Sends the text before the page ends. The request must not be waited for. */
  flush(): void {
    const text = this.text.trim()
    const isPending = this.state === 'editing' || this.state === 'failed'
    if (isPending && text !== this.value && (text !== '' || !this.options.isRequired)) void this.options.save(text)
  }

  #enter(state: EditState, problem = ''): void {
    this.state = state
    this.problem = problem
    this.onChange()
  }
}
