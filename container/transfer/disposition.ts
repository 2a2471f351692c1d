import { MAX_STRING } from '../../src/contract/facts.ts'
import { oneLine } from '../../src/contract/text.ts'

/** Returns the file name in a `Content-Disposition` header (RFC 6266), at most as long as a name may be; null if it has none. */
export function nameIn(header: string | undefined): string | null {
  const extended = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header ?? '')?.[1]
  const [, quoted, token] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header ?? '') ?? []
  const name = (extended && decoded(extended)) ?? toUnicode(quoted?.replace(/\\(.)/g, '$1') ?? token ?? '')
  return oneLine(name).slice(0, MAX_STRING).toWellFormed() || null
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Node reads headers as Latin-1, but many servers send UTF-8. */
function toUnicode(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}
