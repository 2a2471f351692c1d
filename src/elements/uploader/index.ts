import { define } from '../shared/dom.ts'
import { TonearmUploader } from './element.ts'
import type { TonearmUploaderEventMap } from './events.ts'

/** The bundle `/elements/uploader.js`. */

define('tonearm-uploader', TonearmUploader)

export { TonearmUploader }
export type { TonearmUploaderEventMap }
export type { FileView, Problem, State } from './item.ts'

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-uploader': TonearmUploader
  }
  interface HTMLElementEventMap extends TonearmUploaderEventMap {}
}
