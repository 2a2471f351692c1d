import type { Texts } from './texts.ts'
import { de } from './texts_de.ts'
import { en } from './texts_en.ts'
import { es } from './texts_es.ts'
import { fr } from './texts_fr.ts'

const languages: Record<string, Texts> = { en, de, fr, es }

/** The texts for a language tag such as `de-AT`; English where there is no translation. */
export const textsFor = (tag: string): Texts => languages[tag.toLowerCase().split('-')[0] ?? ''] ?? en
