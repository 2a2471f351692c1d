import { type Locale, LOCALES } from '../../contract/facts.ts'
import { type PageTexts, texts } from './texts/en.ts'

/** The language of a page for listeners. The player in the page has the same one. */
export interface PageLanguage {
  locale: Locale
  direction: 'ltr' | 'rtl'
  texts: PageTexts
}

/** Returns the first language in `Accept-Language` that the pages have, or English. Browsers list the preferred language first. */
export async function readLanguage({ headers }: Request): Promise<PageLanguage> {
  const preferred = (headers.get('accept-language') ?? '').toLowerCase().split(',', 20)
  const names = preferred.map((tag) => tag.trim().split(/[-;]/)[0])
  const locale = names.flatMap((name) => LOCALES.filter((each) => each === name))[0] ?? 'en'
  if (locale === 'en') return { locale, direction: 'ltr', texts }
  return { locale, ...(await (await import('./translations.ts')).loadLanguage(locale)) }
}
