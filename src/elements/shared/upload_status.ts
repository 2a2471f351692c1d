import type { Problem, UploadItem } from '../../client/upload/item.ts'
import type { ExceededQuota } from '../../contract/common.ts'
import { fill, fillNumber, type UploaderTexts } from '../texts/texts.ts'
import { formatClock } from './clock.ts'

/** Returns the texts for the states and error codes of uploads, which the uploader and the studio show. */

/** The texts of a language, and the locale for the numbers in them. */
export interface Language {
  locale: string
  texts: UploaderTexts
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

/** Formats `12400000` as `12.4 MB` in a language. */
export function formatSize(bytes: number, locale: string): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  const digits = power > 1 && value < 100 ? 1 : 0
  const unit = { style: 'unit', unit: UNITS[power]!, maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(locale, unit).format(value)
}

/** Formats `0.456` as `45 %` in a language. Rounds down, so that 100 % always means that the upload is complete. */
export const formatPercent = (fraction: number, locale: string) =>
  new Intl.NumberFormat(locale, { style: 'percent' }).format(Math.floor(fraction * 100) / 100)

/** Returns the text of a problem in the user's language, or the service's message if there is no text. */
export function problemText(problem: Problem, { texts, locale }: Language, item?: UploadItem): string {
  const { code, message, limit, quota } = problem
  const { errors } = texts
  // If the service has examined the file, the service's message explains what is wrong with it.
  const isExamined = item?.status === 'failed' && message !== ''
  const key = item?.state === 'uploaded' ? 'unfollowed' : textKey(problem, item)
  const text = isExamined || !Object.hasOwn(errors, key) ? message || errors.failed || code : errors[key]!
  if (quota) return fill(text, quotaValues(quota, texts, locale))
  return fill(text, { size: formatSize(limit ?? 0, locale), origin: location.origin, name: item?.name ?? '' })
}

function textKey({ code, quota }: Problem, item?: UploadItem): string {
  if (quota) return `quota_${quota.scope}`
  if (code === 'not_accepted' && item?.file?.type.startsWith('image/')) return 'image_alone'
  if (code === 'storage_429') return 'rate_limited'
  return /^storage_5\d\d$/.test(code) ? 'storage_unavailable' : code
}

function quotaValues({ name, limit, used, resets_at }: ExceededQuota, texts: UploaderTexts, locale: string) {
  const amount = (n: number) => (name === 'max_bytes' ? formatSize(n, locale) : fillNumber(texts.files, n, locale))
  const time = new Date(resets_at ?? 0).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  return { limit: amount(limit), used: amount(used), time }
}

/** The status of a file as it is displayed. */
export interface UploadStatus {
  text: string
  /** Fraction that the progress bar shows. Null if the progress is unknown, undefined if there is no bar. */
  fraction?: number | null
  isProblem?: boolean
}

/** Returns the status of a file. `place` is its place in the queue, or 0. */
export function statusOf(item: UploadItem, language: Language, place = 0): UploadStatus {
  const { texts, locale } = language
  const problem = item.problem ? problemText(item.problem, language, item) : ''
  switch (item.state) {
    case 'queued':
      return {
        text: `${place > 0 ? fill(texts.queued, { n: place.toLocaleString(locale) }) : texts.waiting} · ${formatSize(item.size, locale)}`,
      }
    case 'uploading':
      return uploading(item, language)
    case 'waiting':
      return { text: waiting(item, problem, texts), fraction: null, isProblem: true }
    case 'paused': {
      const { isActive, fraction, sent } = item
      const text = isActive && item.parts ? texts.pausing : sent > 0 ? texts.pausedAt : texts.paused
      return { text: fill(text, { percent: formatPercent(fraction, locale) }), fraction }
    }
    case 'interrupted': {
      const again = item.sent > 0 ? texts.interrupted : texts.sendAgain
      const text = fill(again, { name: item.name, percent: formatPercent(item.fraction, locale) })
      return {
        text: problem ? `${problem} ${text}` : text,
        ...(item.sent > 0 && { fraction: item.fraction }),
        isProblem: problem !== '',
      }
    }
    case 'processing':
      return processing(item, problem, language)
    case 'ready': {
      const length = item.duration > 0 ? ` · ${formatClock(item.duration)}` : ''
      return { text: `${texts.ready}${length}${problem && `. ${problem}`}` }
    }
    case 'uploaded':
      return { text: problem }
    case 'cancelled':
      return { text: texts.cancelled }
    case 'failed':
    case 'rejected':
      return { text: problem, isProblem: true }
  }
}

function uploading({ size, fraction, sent, speed }: UploadItem, { texts, locale }: Language): UploadStatus {
  if (sent === 0) return { text: texts.starting, fraction: 0 }
  if (fraction === 1) return { text: texts.finishing, fraction }
  const values = {
    percent: formatPercent(fraction, locale),
    sent: formatSize(sent, locale),
    total: formatSize(size, locale),
  }
  const left = speed > 0 ? ` · ${fill(texts.timeLeft, { time: formatTime((size - sent) / speed, locale) })}` : ''
  return { text: fill(texts.uploading, values) + left, fraction }
}

/** Formats 200 seconds as `4 min` in a language. Rounds up, and less than a minute to 5 seconds, so that the text does not change all the time. */
function formatTime(seconds: number, locale: string): string {
  const show = (unit: string, value: number) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit }).format(Math.ceil(value))
  if (seconds <= 55) return show('second', Math.ceil(seconds / 5) * 5)
  return seconds <= 3540 ? show('minute', seconds / 60) : show('hour', seconds / 3600)
}

function waiting({ retryAt }: UploadItem, reason: string, texts: UploaderTexts): string {
  if (retryAt === null) return texts.offline
  return fill(texts.retryIn, { reason, seconds: Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)) })
}

function processing({ status, progress }: UploadItem, problem: string, { texts, locale }: Language): UploadStatus {
  if (problem) return { text: problem, fraction: null, isProblem: true }
  // The progress is 0 while the track is in the queue.
  if (status === 'initializing' || !progress) return { text: texts.received, fraction: null }
  const text = status === 'fallback_processing' ? texts.processingAgain : texts.processing
  return { text: fill(text, { percent: formatPercent(progress, locale) }), fraction: progress }
}
