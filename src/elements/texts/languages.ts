import type * as english from './en.ts'

/** A language: the texts of each element. */
export type Language = typeof english

/** All but English, each loaded when somebody speaks it. */
const LOADERS: Record<string, () => Promise<Language>> = {
  ar: () => import('./ar.ts'),
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
}
export const LOCALES = ['en', ...Object.keys(LOADERS)]
const loaded = new Map<string, Language | null>()

/** A language if it is here; else undefined, and `onLoad` tells when it has come. English is always here, and stands in for what is not. */
export function languageOf(locale: string, onLoad: () => void): Language | undefined {
  const name = locale.split('-')[0]!
  if (!loaded.has(name) && LOADERS[name]) void load(name, LOADERS[name]).then(onLoad)
  return loaded.get(name) ?? undefined
}

const loading = new Map<string, Promise<void>>()
function load(name: string, loader: () => Promise<Language>): Promise<void> {
  const before = loading.get(name)
  if (before) return before
  // One that cannot be loaded is not asked for again.
  const now = loader().then(
    (language) => void loaded.set(name, language),
    () => void loaded.set(name, null),
  )
  loading.set(name, now)
  return now
}
