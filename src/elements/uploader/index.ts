import { define } from '../shared/dom.ts'
import { TonearmUploader } from './element.ts'
import type { UploaderEventMap } from './events.ts'

/** The bundle `/elements/uploader.js`. */

define('tonearm-uploader', TonearmUploader)

export { TonearmUploader }
export type { UploadState } from '../../client/upload/item.ts'
export type { UploaderTexts } from '../texts/texts.ts'
export type { FileView, UploaderEventMap } from './events.ts'

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-uploader': TonearmUploader
  }
  interface HTMLElementEventMap extends UploaderEventMap {}
}
