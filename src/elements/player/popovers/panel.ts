import type { State } from '../../../client/playback/state.ts'
import type { button, element, icon, setAttributes, setText } from '../../shared/dom.ts'
import type { PlayerTexts } from '../../texts/texts.ts'

/** The types of the popovers' contents. */

export interface Kit {
  element: typeof element
  button: typeof button
  icon: typeof icon
  setAttributes: typeof setAttributes
  setText: typeof setText
  clock: (seconds: number) => string
  /** Parses a time such as `1:30`. */
  seconds: (text: string) => number
  fill: (text: string, values: Record<string, string | number>) => string
}

/** The state that the popovers show. */
export interface MenuModel {
  texts: PlayerTexts
  locale: string
  /** The link to share, without a time; null if sharing is off. */
  link: string | null
  state: Pick<State, 'clip' | 'sleep'>
  options: { rate: number }
  duration: number
  hasRemote: boolean
  skip: readonly [number, number]
}
export interface MenuCommands {
  setRate: (rate: number) => void
  sleep: (minutes: number | 'track' | null) => void
  pickRemote: () => void
}

/** The content of a popover. */
export interface Panel {
  root: HTMLElement
  update: (model: MenuModel) => void
  /** Called before the popover opens. */
  onOpen?: () => void
  /** Shows the position of the player, in seconds. */
  showTime?: (time: number) => void
}
