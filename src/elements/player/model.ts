import type { PlaybackOptions, State } from '../../client/playback/state.ts'
import type { PlayerTexts } from '../texts/texts.ts'

/** Everything that the view shows. */
export interface Model {
  state: State
  options: PlaybackOptions
  texts: PlayerTexts
  locale: string
  isWaiting: boolean
  isDownloadable: boolean
  /** The code of what went wrong beside playing. */
  problem: string | null
  duration: number
  hasNext: boolean
  /** Seconds that the skip buttons go back and forward. */
  skip: readonly [number, number]
  hasSkip: boolean
  /** The link to share, if the page shares one. */
  link: string | null
  /** Whether there are other devices to play on. */
  hasRemote: boolean
}

/** What is said in place of sound: of the failure itself, where there is a sentence for its code. */
export function messageOf({ status, code }: State, texts: PlayerTexts): string {
  if (status === 'ready' || status === 'loading') return ''
  return (status === 'failed' && code && texts.errors[code]) || texts.status[status]
}
