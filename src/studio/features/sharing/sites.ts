import { MAX_ORIGINS } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'

/** An origin in the format that the service accepts. */
const ORIGIN = /^https?:\/\/[a-z\d-]+(\.[a-z\d-]+)*(:\d+)?$/
const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i
const LOCAL = /^(localhost|127(\.\d+){3})(?=[:/]|$)/i

interface Sites {
  origins: string[]
  /** The error, as a sentence. */
  fault?: string
}

/** Returns the origins of sites that are separated by spaces, commas or semicolons. */
export function sitesOf(text: string): Sites {
  const origins = new Set<string>()
  for (const word of text.split(/[\s,;]+/).filter(Boolean)) {
    if (word.includes('*'))
      return { origins: [], fault: t('“{word}”: name each site; * does not stand for any.', { word }) }
    const origin = originOf(word)
    if (!origin) {
      const fault = t('“{word}” is not the address of a site. Write it like www.example.com.', { word })
      return { origins: [], fault }
    }
    origins.add(origin)
  }
  return origins.size > MAX_ORIGINS
    ? { origins: [], fault: t('At most {n} sites can be named.', { n: MAX_ORIGINS }) }
    : { origins: [...origins] }
}

/** Returns the title of a new player key for a site, or for any. It is stored, so the address gets no isolates. */
export const keyTitle = (site: string | undefined) =>
  site ? t('Player on {site}', { site: '\0' }).replace('\0', site) : t('Player on any site')

/** Returns `https://www.example.com` for `www.example.com/shop`; null if the word is not a site. */
function originOf(word: string): string | null {
  const local = LOCAL.test(word)
  const full = SCHEME.test(word)
  // A single word is more likely a mistake than a site.
  if (!full && !local && !/^[^/:]+\./.test(word)) return null
  const address = full ? word : `${local ? 'http' : 'https'}://${word}`
  if (!URL.canParse(address)) return null
  const { username, origin } = new URL(address)
  return username === '' && ORIGIN.test(origin) ? origin : null
}
