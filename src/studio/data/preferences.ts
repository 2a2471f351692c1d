import { LOCALES } from '../../contract/facts.ts'
import { PREFERENCES } from '../base/storage_keys.ts'
import { isRightToLeft, type Language, setTexts } from '../base/text.ts'
import { createStore } from './store.ts'

/** The user's choices for this browser. They are kept when the user signs out. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  /** A language of the studio; null for the browser's. */
  language: string | null
  rows: 'compact' | 'comfortable'
  /** How collections and playlists are shown: as covers if empty, or as a list. */
  view: string
  /** The columns of tables of tracks that are not shown, separated by commas. */
  hidden: string
}

const DEFAULTS: Preferences = { theme: 'system', language: null, rows: 'compact', view: '', hidden: '' }

/** Loads the translations of a language. Resolves to undefined if there are none. */
const load = (language: string): Promise<Language | undefined> =>
  (import(`../texts/${language}.ts`) as Promise<Language>).catch(() => undefined)

function stored(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(PREFERENCES) ?? '{}') as Partial<Preferences>) }
  } catch {
    return DEFAULTS
  }
}

export const preferences = createStore<Preferences>(stored())

/** Returns the language that the user or the browser prefers, or `en` if the studio does not have it. */
export function languageOf({ language }: Preferences, preferred: readonly string[] = navigator.languages): string {
  const wanted = language ? [language] : preferred.map((tag) => tag.split('-')[0]!)
  return wanted.find((tag) => LOCALES.some((locale) => locale === tag)) ?? 'en'
}

/** Applies the theme and the language. Resolves when the texts are loaded. */
export async function applyPreferences(): Promise<void> {
  const chosen = preferences.get()
  const root = document.documentElement
  root.dataset.theme = chosen.theme
  root.dataset.rows = chosen.rows
  const language = languageOf(chosen)
  // Without its texts, the studio is in English.
  const loaded = language === 'en' ? undefined : await load(language)
  const shown = loaded ? language : 'en'
  setTexts(shown, loaded)
  root.lang = shown
  root.dir = isRightToLeft() ? 'rtl' : 'ltr'
}

/** Changes and stores preferences. */
export async function prefer(changes: Partial<Preferences>): Promise<void> {
  const next = { ...preferences.get(), ...changes }
  try {
    localStorage.setItem(PREFERENCES, JSON.stringify(next))
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  preferences.set(next)
  await applyPreferences()
  preferences.set({ ...next })
}
