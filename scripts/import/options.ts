import { readOptions } from '../backup/service.ts'
import { downloaderFor, type Downloader } from './download.ts'
import { openClient } from './service.ts'
import { USAGE } from './usage.ts'

/** The options that all kinds of imports by URL have. */

const OPTIONS = {
  url: { type: 'string' },
  collection: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const

export interface ImportFrom extends ReturnType<typeof openClient> {
  /** Address or path that is imported. */
  from: string
  /** The id of an existing collection for all tracks. */
  collection_id: string | undefined
  isDryRun: boolean
  downloader: Downloader
}

export const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

function wrongUsage(problem: string): never {
  console.error(problem + USAGE)
  process.exit(2)
}

/** Parses the arguments after the kind; prints the usage and ends the process with 2 if they are wrong. */
export function readArguments<const O extends Record<string, { type: 'string' | 'boolean' }>>(
  [from = '', ...args]: string[],
  more: O,
) {
  const options = readOptions({ ...OPTIONS, ...more }, USAGE, args)
  if (from === '' || from.startsWith('--')) wrongUsage('')
  const {
    collection: collection_id,
    'dry-run': isDryRun = false,
    url,
  } = options as Partial<Record<string, string>> & { 'dry-run'?: boolean }
  if (collection_id !== undefined && !ID.test(collection_id))
    wrongUsage('--collection must be the id of a collection\n\n')
  if (url !== undefined && !/^https?:\/\//.test(url)) wrongUsage('--url must begin with https:// or http://\n\n')
  const opened = openClient(url)
  const common: ImportFrom = { ...opened, from, collection_id, isDryRun, downloader: downloaderFor(opened.base_url) }
  return { ...common, options: options as { [K in keyof O]?: O[K]['type'] extends 'string' ? string : boolean } }
}
