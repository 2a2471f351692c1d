/** The types of the elements' texts. `{…}` in a text is a placeholder. */

/** Texts of the player without its popovers. In English, they are part of its bundle. */
export interface FirstPlayerTexts {
  player: string
  /** Name of the player for screen readers while it shows a track. */
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
  // The heads of the lists, and the field that finds a track in a long list.
  trackCount: Plural
  chapterCount: Plural
  find: Plural
  nothingFound: string
  retry: string
  reload: string
  more: string
  share: string
  leaveClip: string
  sleepTimer: string
  chapters: string
  /** Advice for listeners whose session has expired. It is shown below the message. */
  expiredHelp: string
  /** The messages for a player that cannot play, by its status. */
  status: Record<'processing' | 'offline' | 'expired' | 'empty' | 'failed', string>
  /** The messages for some failures, by error code. They replace the message for the status. */
  errors: Record<string, string>
}

/** Texts of the popovers of the player, with the names of keys that have no button. */
export interface PopoverTexts {
  link: string
  copyLink: string
  copyLinkAt: string
  linkToPart: string
  startAt: string
  endAt: string
  /** Sets the start or the end of a part to the current position. */
  now: string
  copied: string
  off: string
  minutes: string
  endOfTrack: string
  keys: string
  remote: string
  nextChapter: string
  previousChapter: string
}

/** Texts of the player. */
export interface PlayerTexts extends FirstPlayerTexts, PopoverTexts {}

/** The forms of a text with a number `{n}`, by the plural category of the number in the language. */
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
  // The status of a file.
  waiting: string
  /** For a file that waits in the queue: `{n}` is its place. */
  queued: string
  starting: string
  uploading: string
  /** Follows `uploading`. */
  timeLeft: string
  finishing: string
  retryIn: string
  offline: string
  paused: string
  pausing: string
  pausedAt: string
  interrupted: string
  /** Instead of `interrupted`, if nothing is stored yet. */
  sendAgain: string
  received: string
  processing: string
  processingAgain: string
  ready: string
  cancelled: string
  // The actions on a file, and their hints.
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
  /** Label of a button, which includes the name of the file that it affects. */
  actionOn: string
  addCover: string
  changeCover: string
  coverSending: string
  coverReady: string
  coverFailed: string
  // The summary of all files.
  held: string
  stillSending: Plural
  total: Plural
  filesReady: Plural
  filesFailed: Plural
  added: Plural
  files: Plural
  percentDone: string
  titleOf: string
  progressOf: string
  /** The messages for errors, by code. For all other codes, the service's message is shown. */
  errors: Record<string, string>
}

/** Texts with which a page overrides the default texts of an element. */
export type Overrides<T> = { [K in keyof T]?: T[K] extends string ? string : Partial<T[K]> }

/** Returns the first candidate that is a valid language tag, or `en` if no candidate is valid. */
export function pickLocale(...candidates: (string | null | undefined)[]): string {
  for (const candidate of candidates) {
    try {
      const [tag] = candidate ? Intl.getCanonicalLocales(candidate) : []
      if (tag) return tag
    } catch {
      // The candidate is not a valid language tag, e.g. `en_US`.
    }
  }
  return 'en'
}

/** Merges the default texts with the overrides of a page. */
export function withOverrides<T extends object>(texts: T, overrides: Overrides<T>): T {
  const merged = Object.entries(overrides).map(([key, text]) => [
    key,
    typeof text === 'object' ? { ...texts[key as keyof T], ...text } : text,
  ])
  return { ...texts, ...(Object.fromEntries(merged) as Partial<T>) }
}

/** Fills the placeholders `{…}` of a text. Placeholders without a value remain. */
export const fill = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder))

/** Fills a text that contains a number. Uses the plural form that the language requires for the number. */
export const fillNumber = (forms: Plural, n: number, locale: string, values: Record<string, string | number> = {}) =>
  fill(forms[new Intl.PluralRules(locale).select(n)] ?? forms.other, { n: n.toLocaleString(locale), ...values })
