import { MAX_ORIGINS } from '../../contract/facts.ts'

/** An origin as the service takes it. */
const ORIGIN = /^https?:\/\/[a-z\d-]+(\.[a-z\d-]+)*(:\d+)?$/
const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i
const LOCAL = /^(localhost|127(\.\d+){3})(?=[:/]|$)/i

interface Sites {
  origins: string[]
  /** What is wrong, in a sentence. */
  fault?: string
}

/** The sites that people write or paste, with spaces or commas between them, as origins. */
export function sitesOf(text: string): Sites {
  const origins = new Set<string>()
  for (const word of text.split(/[\s,;]+/).filter(Boolean)) {
    if (word.includes('*')) return { origins: [], fault: `“${word}”: name each site; * does not stand for any.` }
    const origin = originOf(word)
    if (!origin) return { origins: [], fault: `“${word}” is not the address of a site. Write it like www.example.com.` }
    origins.add(origin)
  }
  return origins.size > MAX_ORIGINS
    ? { origins: [], fault: `At most ${MAX_ORIGINS} sites can be named.` }
    : { origins: [...origins] }
}

/** `www.example.com/shop` → `https://www.example.com`; null for what is no site. */
function originOf(word: string): string | null {
  const local = LOCAL.test(word)
  const full = SCHEME.test(word)
  // A single word is rather a slip than a site.
  if (!full && !local && !/^[^/:]+\./.test(word)) return null
  const address = full ? word : `${local ? 'http' : 'https'}://${word}`
  if (!URL.canParse(address)) return null
  const { username, origin } = new URL(address)
  return username === '' && ORIGIN.test(origin) ? origin : null
}
