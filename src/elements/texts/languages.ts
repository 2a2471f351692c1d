import type { Locale } from '../../contract/facts.ts'
import type * as english from './en.ts'

/** A language, which contains the texts of each element. */
export type Language = typeof english

/** The languages other than English. Each is loaded when it is needed. */
const LOADERS: Record<Exclude<Locale, 'en'>, () => Promise<Language>> = {
  ar: () => import('./ar.ts'),
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
}
const loaded: Record<string, Language | null> = {}
const loading: Record<string, Promise<void>> = {}

/**
 * Returns the language of a locale if it is loaded. Otherwise returns undefined, loads the language, and then calls `onLoad`. English is
 * bundled, so callers use English until then, and if the language is not supported.
 */
export function languageOf(locale: string, onLoad: () => void): Language | undefined {
  const name = locale.split('-')[0]!
  const loader = Object.hasOwn(LOADERS, name) ? LOADERS[name as keyof typeof LOADERS] : undefined
  if (loader && loaded[name] === undefined) {
    // If a language fails to load, it is not requested again.
    loading[name] ??= loader()
      .catch(() => null)
      .then((language) => void (loaded[name] = language))
    void loading[name].then(onLoad)
  }
  return loaded[name] ?? undefined
}
