import { clock } from '../shared/clock.ts'
import { fractionOf, type Item } from './item.ts'
import { formatPercent, formatSize, type Texts } from './texts.ts'

/** What a row says of its file. */
export interface Status {
  text: string
  /** Of the bar; null when it is not known, undefined without a bar. */
  fraction?: number | null
  isProblem?: boolean
}

export function statusOf(item: Item, texts: Texts): Status {
  const { locale } = texts
  const size = formatSize(item.file.size, locale)
  switch (item.state) {
    case 'queued':
      return { text: `${texts.waiting} · ${size}` }
    case 'uploading':
      return uploading(item, texts)
    case 'waiting':
      return { text: waiting(item, texts), fraction: null, isProblem: true }
    case 'paused':
      return { text: texts.paused, fraction: 0 }
    case 'processing':
      return processing(item, texts)
    case 'ready': {
      const length = item.duration > 0 ? ` · ${clock(item.duration)}` : ''
      return { text: `${texts.ready}${length}${item.problem ? `. ${item.problem.message}` : ''}` }
    }
    case 'uploaded':
      return { text: item.problem?.message ?? texts.uploaded }
    case 'cancelled':
      return { text: texts.cancelled }
    case 'failed':
    case 'rejected':
      return { text: item.problem?.message ?? texts.failedWithoutReason, isProblem: true }
  }
}

function uploading(item: Item, { locale, ...texts }: Texts): Status {
  const fraction = fractionOf(item)
  if (item.sent === 0) return { text: texts.starting, fraction: 0 }
  if (fraction === 1) return { text: texts.finishing, fraction }
  const [sent, total] = [formatSize(item.sent, locale), formatSize(item.file.size, locale)]
  return { text: texts.uploading(formatPercent(fraction, locale), sent, total), fraction }
}

function waiting({ retryAt, problem }: Item, texts: Texts): string {
  if (retryAt === null) return texts.offline
  const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000))
  return texts.retryIn(problem?.message ?? '', seconds)
}

function processing({ status, progress, problem }: Item, texts: Texts): Status {
  if (problem) return { text: problem.message, fraction: null, isProblem: true }
  // 0 while other files are worked on.
  if (status === 'initializing' || !progress) return { text: texts.received, fraction: null }
  const percent = formatPercent(progress, texts.locale)
  return {
    text: status === 'fallback_processing' ? texts.processingAgain(percent) : texts.processing(percent),
    fraction: progress,
  }
}
