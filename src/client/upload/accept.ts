import { COVER_TYPES } from '../../contract/facts.ts'
import { HEAD_BYTES, isText } from '../../contract/text.ts'
import { sleep } from '../retry.ts'
import type { Problem, UploadOptions } from './item.ts'

/** What is taken at all; the service looks at the bytes and has the last word. */

/** Audio, and the containers of sound that browsers call video or do not know. */
export const DEFAULT_ACCEPT =
  'audio/*,.mp3,.m4a,.aac,.flac,.wav,.aif,.aiff,.aifc,.ogg,.oga,.opus,.caf,.wma,.mka,.mp4,.mov,.webm,.mkv'

/** The picture formats of covers (docs/architecture.md#covers). Named one by one, so that phones convert theirs. */
export const COVER_ACCEPT = Object.keys(COVER_TYPES).join(',')

/** Whether a file matches an `accept` list, as `<input type=file>` understands one (HTML, §4.10.5.1.17). */
export function isAccepted(file: { name: string; type: string }, accept: string): boolean {
  const tokens = accept
    .toLowerCase()
    .split(',')
    .map((token) => token.trim())
    .filter(Boolean)
  const name = file.name.toLowerCase()
  const type = file.type.toLowerCase()
  return (
    tokens.length === 0 ||
    tokens.some((token) => {
      if (token.startsWith('.')) return name.endsWith(token)
      return token.endsWith('/*') ? type.startsWith(token.slice(0, -1)) : type === token
    })
  )
}

/** Why a file is not taken, as far as its name, type and size tell. */
export function problemOfFile(file: File, { accept = DEFAULT_ACCEPT, maxSize }: UploadOptions): Problem | null {
  if (!isAccepted(file, accept)) return { code: 'not_accepted', message: '' }
  if (file.size === 0) return { code: 'empty_file', message: '' }
  return maxSize && file.size > maxSize ? { code: 'too_large', message: '', limit: maxSize } : null
}

/** Pictures that are a folder's cover by their name, as music players know them. */
const COVER_NAME = /^(cover|folder|front|album|artwork)\.\w+$/i

/** Node's files lie in no folder. */
function folderOf(file: { webkitRelativePath?: string }): string {
  const { webkitRelativePath: path = '' } = file
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** Covers among files that came together: a picture beside one song, or of a folder by its name. */
export function findCovers(files: readonly File[], { accept = DEFAULT_ACCEPT }: UploadOptions): Map<File, File> {
  const covers = new Map<File, File>()
  const songs = files.filter((file) => isAccepted(file, accept))
  for (const picture of files.filter((file) => isImage(file) && !isAccepted(file, accept))) {
    const beside = songs.filter((song) => folderOf(song) === folderOf(picture))
    if (beside.length !== 1 && !COVER_NAME.test(picture.name)) continue
    for (const song of beside) if (!covers.has(song)) covers.set(song, picture)
  }
  return covers
}

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9, ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30 }

/** Bytes of a size such as `500MB`, `1.5 GB`, `200 MiB` or `1000000`; null when it is none. */
export function parseSize(text: string | null): number | null {
  const [, number, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmg]?i?)b?\s*$/i.exec(text ?? '') ?? []
  const factor = UNITS[unit.toLowerCase()]
  return number && factor ? Math.floor(Number(number) * factor) : null
}

export const isImage = (file: File) => file.type.startsWith('image/')

/** A drive that is slow, or gone, may leave a read without an end. In milliseconds. */
const READ_TIMEOUT = 15_000

/** The first bytes of a file; null when they cannot be read, or not soon. */
export async function headOf(file: File, bytes: number): Promise<Uint8Array | null> {
  const read = file
    .slice(0, bytes)
    .arrayBuffer()
    .catch(() => null)
  const limit = new AbortController()
  const head = await Promise.race([read, sleep(READ_TIMEOUT, limit.signal).then(() => null)])
  limit.abort()
  return head && new Uint8Array(head)
}

/** Whether a file is text; no when it cannot be read, which is found out when it is sent. */
export async function isTextFile(file: File): Promise<boolean> {
  const head = await headOf(file, HEAD_BYTES)
  return head !== null && isText(head)
}
