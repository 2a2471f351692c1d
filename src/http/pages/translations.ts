import type { Locale } from '../../contract/facts.ts'
import { textDirection } from '../../contract/text.ts'
import type { PageTexts } from './texts/en.ts'

/** The languages of the pages other than English. An isolate loads this file when a visitor prefers one of them. */
const LOADERS: Record<Exclude<Locale, 'en'>, () => Promise<{ texts: PageTexts }>> = {
  ar: () => import('./texts/ar.ts'),
  de: () => import('./texts/de.ts'),
  es: () => import('./texts/es.ts'),
  fr: () => import('./texts/fr.ts'),
  ja: () => import('./texts/ja.ts'),
}

/** Resolves to the direction and the texts of a language. */
export async function loadLanguage(
  locale: Exclude<Locale, 'en'>,
): Promise<{ direction: 'ltr' | 'rtl'; texts: PageTexts }> {
  return { direction: textDirection(locale), texts: (await LOADERS[locale]()).texts }
}
