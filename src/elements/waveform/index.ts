import { define } from '../shared/dom.ts'
import { TonearmWaveform } from './element.ts'

/** The bundle `/elements/waveform.js`. */

define('tonearm-waveform', TonearmWaveform)

export { barHeights, drawWaveform, type Picture } from '../shared/draw.ts'
export { TonearmWaveform }
