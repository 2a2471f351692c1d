/** Everything the element says. A page may replace any of it by the property `texts`. */
export interface Texts {
  /** BCP 47, for numbers. */
  locale: string
  uploader: string
  drop: string
  dropNow: string
  orPaste: string
  browse: string
  addMore: string
  limit: (size: string) => string
  list: string
  // What a file is doing.
  waiting: string
  starting: string
  uploading: (percent: string, sent: string, total: string) => string
  finishing: string
  retryIn: (reason: string, seconds: number) => string
  offline: string
  paused: string
  received: string
  processing: (percent: string) => string
  processingAgain: (percent: string) => string
  ready: string
  uploaded: string
  cancelled: string
  // What can be done.
  pause: string
  resume: string
  retry: string
  retryNow: string
  cancel: string
  remove: string
  pauseAll: string
  resumeAll: string
  cancelAll: string
  retryAll: string
  clear: string
  start: (files: number) => string
  tryAgain: string
  pauseHint: string
  addCover: string
  changeCover: string
  coverSending: string
  coverReady: string
  /** A button's label with the file it belongs to. */
  of: (action: string, name: string) => string
  // The whole list.
  heldNote: (running: number) => string
  total: (done: number, files: number) => string
  summary: (ready: number, failed: number) => string
  percentDone: (percent: string) => string
  progressOf: (name: string) => string
  added: (files: number) => string
  // What went wrong.
  tooLarge: (size: string) => string
  tooLargeForService: string
  notAccepted: string
  imageDropped: string
  textFile: string
  empty: string
  fileChanged: string
  coverKind: string
  coverTooLarge: string
  coverTooLate: string
  coverFailed: (reason: string) => string
  noConnection: string
  busy: string
  wrongKey: string
  wrongKeyKind: string
  wrongOrigin: (origin: string) => string
  sessionExpired: string
  placeNotFound: string
  notSetUp: string
  trackDeleted: string
  unfollowed: string
  incomplete: string
  failedWithoutReason: string
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

/** `12400000` → `12.4 MB`, in a language. */
export function formatSize(bytes: number, locale: string): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  const digits = power > 1 && value < 100 ? 1 : 0
  const unit = { style: 'unit', unit: UNITS[power]!, maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(locale, unit).format(value)
}

/** `0.456` → `45 %`, in a language; 100 % only when it is all. */
export const formatPercent = (fraction: number, locale: string) =>
  new Intl.NumberFormat(locale, { style: 'percent' }).format(Math.floor(fraction * 100) / 100)
