import { define } from '../shared/dom.ts'
import { TonearmWaveform } from '../waveform/element.ts'
import { TonearmPlayer } from './element.ts'

/** The bundle `/elements/player.js`. */

define('tonearm-waveform', TonearmWaveform)
define('tonearm-player', TonearmPlayer)

export { TonearmPlayer, TonearmWaveform }
export type { PlayerEventMap } from './element.ts'
export type { Overrides, PlayerTexts } from '../texts/texts.ts'
