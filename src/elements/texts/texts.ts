/** What the elements say. `{…}` are filled in. */

/** Of the player. */
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
  /** What stands in place of sound. */
  status: Record<'processing' | 'offline' | 'expired' | 'empty' | 'failed', string>
  /** What else may be said of a failure, by its code. */
  errors: Record<string, string>
}

/** Sentences about a number, `{n}`, by its plural category in the language. */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** Of the uploader. */
export interface UploaderTexts {
  uploader: string
  drop: string
  dropNow: string
  orPaste: string
  browse: string
  addMore: string
  limit: string
  list: string
  // What a file is doing.
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
  // What can be done.
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
  /** A button's label with the file it belongs to. */
  actionOn: string
  addCover: string
  changeCover: string
  coverSending: string
  coverReady: string
  coverFailed: string
  // The whole list.
  held: string
  stillSending: Plural
  total: Plural
  filesReady: Plural
  filesFailed: Plural
  added: Plural
  percentDone: string
  titleOf: string
  progressOf: string
  /** What went wrong, by its code; of a code that is not here, what the service says. */
  errors: Record<string, string>
}

/** Texts that a page gives in place of an element's own. */
export type Overrides<T> = { [K in keyof T]?: T[K] extends string ? string : Partial<T[K]> }

/** The language to speak: the first of the wanted ones that is a language tag. */
export function pickLocale(...wanted: (string | null | undefined)[]): string {
  for (const each of wanted) {
    try {
      const [tag] = each ? Intl.getCanonicalLocales(each) : []
      if (tag) return tag
    } catch {
      // Not a language tag, as `en_US`.
    }
  }
  return 'en'
}

/** Texts with what the page gives in place of them. */
export function withOverrides<T extends object>(texts: T, overrides: Overrides<T>): T {
  const merged = Object.entries(overrides).map(([key, text]) => [
    key,
    typeof text === 'object' ? { ...texts[key as keyof T], ...text } : text,
  ])
  return { ...texts, ...(Object.fromEntries(merged) as Partial<T>) }
}

/** Fills `{…}` in. */
export const fill = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** A sentence about a number. */
export const fillNumber = (forms: Plural, n: number, locale: string, values: Record<string, string | number> = {}) =>
  fill(forms[new Intl.PluralRules(locale).select(n)] ?? forms.other, { n: n.toLocaleString(locale), ...values })
