import { player as ar } from './ar.ts'
import { player as de } from './de.ts'
import { player as en } from './en.ts'
import { player as es } from './es.ts'
import { player as fr } from './fr.ts'
import { player as ja } from './ja.ts'

/** The player's texts in every language. A file of its own, so that each element's bundle holds its own texts only. */
export const playerTexts = { en, de, fr, es, ja, ar }
