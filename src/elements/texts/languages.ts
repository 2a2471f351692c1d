import type * as english from './en.ts'

/** A language, which contains the texts of each element. */
export type Language = typeof english

/** The languages other than English. Each is loaded when it is needed. */
const LOADERS: Record<string, () => Promise<Language>> = {
  ar: () => import('./ar.ts'),
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
}
export const LOCALES = ['en', ...Object.keys(LOADERS)]
const loaded = new Map<string, Language | null>()

/**
 * Returns the language of a locale if it is loaded. Otherwise returns undefined, loads the language, and then calls `onLoad`. English is
 * bundled, so callers use English until then, and if the language is not supported.
 */
export function languageOf(locale: string, onLoad: () => void): Language | undefined {
  const name = locale.split('-')[0]!
  if (!loaded.has(name) && LOADERS[name]) void load(name, LOADERS[name]).then(onLoad)
  return loaded.get(name) ?? undefined
}

const loading = new Map<string, Promise<void>>()
function load(name: string, loader: () => Promise<Language>): Promise<void> {
  const pending = loading.get(name)
  if (pending) return pending
  // If a language fails to load, it is not requested again.
  const request = loader().then(
    (language) => void loaded.set(name, language),
    () => void loaded.set(name, null),
  )
  loading.set(name, request)
  return request
}
