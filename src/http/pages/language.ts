import { type Locale, LOCALES } from '../../contract/facts.ts'
import { textDirection } from '../../contract/text.ts'
import { type PageTexts, texts } from './texts/en.ts'

/** The language of a page for listeners. The player in the page has the same one. */
export interface PageLanguage {
  locale: Locale
  direction: 'ltr' | 'rtl'
  texts: PageTexts
}

const ENGLISH: PageLanguage = { locale: 'en', direction: 'ltr', texts }

/** The languages other than English. Each is loaded when a visitor prefers it. */
const LOADERS: Record<Exclude<Locale, 'en'>, () => Promise<{ texts: PageTexts }>> = {
  ar: () => import('./texts/ar.ts'),
  de: () => import('./texts/de.ts'),
  es: () => import('./texts/es.ts'),
  fr: () => import('./texts/fr.ts'),
  ja: () => import('./texts/ja.ts'),
}

/** Returns the first language in `Accept-Language` that the pages have, or English. Browsers list the preferred language first. */
export async function readLanguage({ headers }: Request): Promise<PageLanguage> {
  const preferred = (headers.get('accept-language') ?? '').toLowerCase().split(',', 20)
  const names = preferred.map((tag) => tag.trim().split(/[-;]/)[0])
  const locale = names.flatMap((name) => LOCALES.filter((each) => each === name))[0] ?? 'en'
  if (locale === 'en') return ENGLISH
  return { locale, direction: textDirection(locale), texts: (await LOADERS[locale]()).texts }
}
