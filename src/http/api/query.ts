import type { MiddlewareHandler } from 'hono'

import { invalid } from '../../core/errors.ts'

/** Decodes a query parameter; returns null if its bytes are not UTF-8. A `%` without two hexadecimal digits after it is kept. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replace(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return null
  }
}

/** Refuses a query in which a parameter is not UTF-8 or occurs twice. */
export const checkQuery: MiddlewareHandler = async (c, next) => {
  const seen = new Set<string>()
  for (const parameter of new URL(c.req.url).search.slice(1).split('&').filter(Boolean)) {
    const name = decode(parameter.split('=', 1)[0]!)
    if (name === null || decode(parameter) === null) throw invalid(name ?? 'query', 'is not UTF-8')
    if (seen.has(name)) throw invalid(name, 'must be given only once')
    seen.add(name)
  }
  return next()
}
