import { isSounding, namesOf, type State } from '../../client/playback/state.ts'
import type { Player } from './commands.ts'
import type { LockScreen } from './media_session.ts'

/** Loads the module of the lock screen when playback starts, and then passes on what it shows. */
export class LockScreenLoader {
  readonly #player: Player
  readonly #onLoad: () => void
  #isLoading = false
  /** The lock screen; undefined until the module has loaded. */
  screen: LockScreen | undefined

  constructor(player: Player, onLoad: () => void) {
    this.#player = player
    this.#onLoad = onLoad
  }

  update(state: State, hasNext: boolean): void {
    const isPlaying = isSounding(state)
    if (isPlaying && !this.#isLoading) void this.#load()
    this.screen?.update({ state, names: namesOf(state), isPlaying, hasNext })
  }

  async #load(): Promise<void> {
    this.#isLoading = true
    // Without this module, lock screens show the title of the page.
    const loaded = await import('./media_session.ts').catch(() => null)
    if (!loaded) return
    this.screen = new loaded.LockScreen(this.#player)
    this.#onLoad()
  }
}
