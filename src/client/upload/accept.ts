import { COVER_TYPES } from '../../contract/facts.ts'
import { HEAD_BYTES, isText } from '../../contract/text.ts'
import { sleep } from '../retry.ts'

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
