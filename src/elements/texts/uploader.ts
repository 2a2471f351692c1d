import { uploader as ar } from './ar.ts'
import { uploader as de } from './de.ts'
import { uploader as en } from './en.ts'
import { uploader as es } from './es.ts'
import { uploader as fr } from './fr.ts'
import { uploader as ja } from './ja.ts'

/** The uploader's texts in every language. */
export const uploaderTexts = { en, de, fr, es, ja, ar }
