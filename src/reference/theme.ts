import { PREFERENCES } from '../studio/base/storage_keys.ts'

/** Applies the theme of the studio, if the user chose one there. Runs before the page is painted. */
try {
  const { theme } = JSON.parse(localStorage.getItem(PREFERENCES) ?? '{}') as { theme?: string }
  if (theme) document.documentElement.dataset.theme = theme
} catch {
  // The browser's theme is used.
}
