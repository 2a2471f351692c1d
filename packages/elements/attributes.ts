import type { PlayerEventMap, TonearmPlayer } from '../../src/elements/player/index.ts'
import type { TonearmUploader } from '../../src/elements/uploader/index.ts'
import type { UploaderEventMap } from '../../src/elements/uploader/index.ts'
import type { TonearmWaveform } from '../../src/elements/waveform/index.ts'

/**
 * The attributes of the elements in JSX and templates. `Flag` is the framework's type for a boolean attribute. scripts/pack/manifest.ts
 * adds the descriptions from the tables in docs/player.md and docs/uploader.md.
 */

export interface PlayerAttributes<Flag = boolean> {
  'play-session-id'?: string | undefined
  'api-key'?: string | undefined
  scope?: 'track' | 'collection' | 'playlist' | undefined
  'resource-id'?: string | undefined
  'base-url'?: string | undefined
  variants?: string | undefined
  'expires-in'?: number | string | undefined
  track?: string | number | undefined
  start?: string | number | undefined
  end?: string | number | undefined
  autoplay?: Flag | undefined
  loop?: '' | 'all' | 'one' | 'none' | undefined
  shuffle?: Flag | undefined
  rate?: number | undefined
  volume?: number | undefined
  muted?: Flag | undefined
  normalize?: Flag | undefined
  skip?: '' | 'none' | `${number} ${number}` | undefined
  share?: string | undefined
  'no-memory'?: Flag | undefined
  'no-statistics'?: Flag | undefined
  download?: string | undefined
  theme?: 'auto' | 'light' | 'dark' | undefined
  accent?: string | undefined
  layout?: 'full' | 'compact' | 'cover' | undefined
  locale?: string | undefined
}

export interface UploaderAttributes<Flag = boolean> {
  'api-key'?: string | undefined
  'collection-id'?: string | undefined
  'upload-session-id'?: string | undefined
  'base-url'?: string | undefined
  accept?: string | undefined
  'max-size'?: string | number | undefined
  concurrency?: number | undefined
  manual?: Flag | undefined
  'no-memory'?: Flag | undefined
  'edit-titles'?: Flag | undefined
  theme?: 'auto' | 'light' | 'dark' | undefined
  accent?: string | undefined
  locale?: string | undefined
}

export interface WaveformAttributes<Flag = boolean> {
  levels?: readonly number[] | undefined
  duration?: number | undefined
  'current-time'?: number | undefined
  for?: string | undefined
  label?: string | undefined
  'value-text'?: string | undefined
  locale?: string | undefined
  disabled?: Flag | undefined
}

export interface WaveformEventMap {
  'tonearm-seek': CustomEvent<{ time: number }>
}

/** The properties `K` of the element `E`, which JSX and templates can set like attributes. */
type Properties<E, K extends keyof E> = { [P in K]?: E[P] | undefined }

/** The attributes, properties and events of each element, in addition to those that every HTML element has. */
export interface Elements<Flag = boolean> {
  'tonearm-player': {
    element: TonearmPlayer
    props: PlayerAttributes<Flag> & Properties<TonearmPlayer, 'texts'>
    events: PlayerEventMap
  }
  'tonearm-uploader': {
    element: TonearmUploader
    props: UploaderAttributes<Flag> & Properties<TonearmUploader, 'texts' | 'describe'>
    events: UploaderEventMap
  }
  'tonearm-waveform': {
    element: TonearmWaveform
    props: WaveformAttributes<Flag> & Properties<TonearmWaveform, 'chapters'>
    events: WaveformEventMap
  }
}

/** Event listeners under their names in JSX, such as `ontonearm-ready`. */
export type Listeners<Events> = { [N in keyof Events & string as `on${N}`]?: ((event: Events[N]) => void) | undefined }
