import { COVER_TYPES } from '../../contract/facts.ts'
import { HEAD_BYTES, isText } from '../../contract/text.ts'
import { sleep } from '../retry.ts'
import type { Problem, UploadOptions } from './item.ts'

/** Checks of files before they are uploaded. Only the service, which inspects the bytes, decides whether a file is valid. */

/** Accepts audio, including containers that browsers report as video or do not know. */
export const DEFAULT_ACCEPT =
  'audio/*,.mp3,.m4a,.aac,.flac,.wav,.aif,.aiff,.aifc,.ogg,.oga,.opus,.caf,.wma,.mka,.mp4,.mov,.webm,.mkv'

/** The image formats of covers (docs/architecture.md#covers). They are listed one by one, because phones then convert images of other formats. */
export const COVER_ACCEPT = Object.keys(COVER_TYPES).join(',')

/** Whether a file matches an `accept` list according to the rules of `<input type=file>` (HTML, §4.10.5.1.17). */
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

/** Returns why a file is rejected because of its name, type or size; null if it is accepted. */
export function problemOfFile(file: File, { accept = DEFAULT_ACCEPT, maxSize }: UploadOptions): Problem | null {
  if (!isAccepted(file, accept)) return { code: 'not_accepted', message: '' }
  if (file.size === 0) return { code: 'empty_file', message: '' }
  return maxSize && file.size > maxSize ? { code: 'too_large', message: '', limit: maxSize } : null
}

/** File names that music players treat as the cover of a folder. */
const COVER_NAME = /^(cover|folder|front|album|artwork)\.\w+$/i

/** Returns the folder of a file. Empty in Node, where files have no `webkitRelativePath`. */
function folderOf(file: { webkitRelativePath?: string }): string {
  const { webkitRelativePath: path = '' } = file
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/**
 * Finds the covers of songs that were added together with images: the cover is an image in the same folder if the folder contains a single
 * song or the image has a typical name of a cover.
 */
export function findCovers(
  files: readonly File[],
  { accept = DEFAULT_ACCEPT }: Pick<UploadOptions, 'accept'>,
): Map<File, File> {
  const covers = new Map<File, File>()
  const songs = files.filter((file) => isAccepted(file, accept))
  for (const picture of files.filter((file) => isImage(file) && !isAccepted(file, accept))) {
    const siblings = songs.filter((song) => folderOf(song) === folderOf(picture))
    if (siblings.length !== 1 && !COVER_NAME.test(picture.name)) continue
    for (const song of siblings) if (!covers.has(song)) covers.set(song, picture)
  }
  return covers
}

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9, ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30 }

/** Parses a size such as `500MB`, `1.5 GB`, `200 MiB` or `1000000` into bytes. Returns null if it is invalid. */
export function parseSize(text: string | null): number | null {
  const [, number, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmg]?i?)b?\s*$/i.exec(text ?? '') ?? []
  const factor = UNITS[unit.toLowerCase()]
  return number && factor ? Math.floor(Number(number) * factor) : null
}

export const isImage = (file: File) => file.type.startsWith('image/')

/** Milliseconds until a read fails, because a slow or removed drive may never respond. */
const READ_TIMEOUT = 15_000

/** Reads the first bytes of a file. Resolves to null after an error or a timeout. */
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

/** Whether a file is text. False if it cannot be read; the upload reports that later. */
export async function isTextFile(file: File): Promise<boolean> {
  const head = await headOf(file, HEAD_BYTES)
  return head !== null && isText(head)
}
