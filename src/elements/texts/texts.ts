/** The texts of the elements. `{…}` are placeholders. */

/** Texts of the player. */
export interface PlayerTexts {
  player: string
  /** The player's name for screen readers while it shows a track. */
  playerOf: string
  play: string
  pause: string
  previous: string
  next: string
  back: string
  forward: string
  position: string
  timeOf: string
  mute: string
  unmute: string
  volume: string
  speed: string
  shuffle: string
  repeat: string
  download: string
  tracks: string
  retry: string
  more: string
  link: string
  startAt: string
  copy: string
  copied: string
  sleepTimer: string
  off: string
  minutes: string
  endOfTrack: string
  keys: string
  remote: string
  chapters: string
  nextChapter: string
  previousChapter: string
  /** Shown when the player cannot play, by its status. */
  status: Record<'processing' | 'offline' | 'expired' | 'empty' | 'failed', string>
  /** Shown for some failures, by error code. */
  errors: Record<string, string>
}

/** Forms of a text with a number `{n}`, by its plural category in the language. */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** Texts of the uploader. */
export interface UploaderTexts {
  uploader: string
  drop: string
  dropNow: string
  orPaste: string
  browse: string
  addMore: string
  limit: string
  list: string
  // Status of a file.
  waiting: string
  starting: string
  uploading: string
  finishing: string
  retryIn: string
  offline: string
  paused: string
  pausing: string
  pausedAt: string
  interrupted: string
  received: string
  processing: string
  processingAgain: string
  ready: string
  cancelled: string
  // Actions.
  pause: string
  pauseHint: string
  resume: string
  retry: string
  retryNow: string
  cancel: string
  remove: string
  chooseFile: string
  cancelAll: string
  retryAll: string
  clear: string
  start: Plural
  /** Label of a button, with the file that it affects. */
  actionOn: string
  addCover: string
  changeCover: string
  coverSending: string
  coverReady: string
  coverFailed: string
  // All files.
  held: string
  stillSending: Plural
  total: Plural
  filesReady: Plural
  filesFailed: Plural
  added: Plural
  percentDone: string
  titleOf: string
  progressOf: string
  /** Errors by code. For other codes, the service's message is shown. */
  errors: Record<string, string>
}

/** Texts of a page that override the element's own. */
export type Overrides<T> = { [K in keyof T]?: T[K] extends string ? string : Partial<T[K]> }

/** Returns the first valid language tag, by default `en`. */
export function pickLocale(...candidates: (string | null | undefined)[]): string {
  for (const candidate of candidates) {
    try {
      const [tag] = candidate ? Intl.getCanonicalLocales(candidate) : []
      if (tag) return tag
    } catch {
      // Not a valid language tag, such as `en_US`.
    }
  }
  return 'en'
}

/** Merges the texts with a page's overrides. */
export function withOverrides<T extends object>(texts: T, overrides: Overrides<T>): T {
  const merged = Object.entries(overrides).map(([key, text]) => [
    key,
    typeof text === 'object' ? { ...texts[key as keyof T], ...text } : text,
  ])
  return { ...texts, ...(Object.fromEntries(merged) as Partial<T>) }
}

/** Fills the placeholders `{…}` of a text. Unknown ones stay. */
export const fill = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder))

/** Fills a text with a number, in the plural form of the language. */
export const fillNumber = (forms: Plural, n: number, locale: string, values: Record<string, string | number> = {}) =>
  fill(forms[new Intl.PluralRules(locale).select(n)] ?? forms.other, { n: n.toLocaleString(locale), ...values })
