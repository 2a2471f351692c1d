/**
 * What the developer of a page should know, for the console: what is wrong, and the cure. In English, as all of the console. It is
 * loaded when there is something to say, and imports nothing.
 */

const DOCS = 'docs/player.md'

/** Of how an element was set up; `fault` is what attributes.ts found. */
export function setupAdvice(
  fault: 'id' | 'scope' | 'missing',
  { playSessionId, scope }: { playSessionId: string | null; scope: string | null },
): string {
  if (fault === 'id')
    return `play-session-id="${playSessionId}" is no id. Put in what POST /v1/play_session/{scope} answers as play_session_id (${DOCS}).`
  if (fault === 'scope') return `scope="${scope}" is not known. It is track, collection or playlist.`
  return 'api-key, scope and resource-id go together: one of them is missing.'
}

/** What to do about a failure, by its code; null for what happens to listeners on pages that are right. */
export function failureAdvice(code: string, { baseUrl }: { baseUrl: string }, origin: string): string | null {
  const service = new URL(baseUrl).origin
  const advice: Record<string, string> = {
    not_found: `${service} does not know what is to be played. Check play-session-id or resource-id, and base-url.`,
    unauthorized: `${service} does not know this api-key. It may have been revoked, or belong to another service (base-url).`,
    insufficient_scope:
      'This api-key may not play this. Use a key of the type player that is bound to it, or to nothing.',
    origin_not_allowed: `This api-key is not open to pages of ${origin}. Add that to the allowed_origins of the key.`,
    no_playable_variant:
      'This browser plays none of the session’s variants. Sessions without a list of variants hold MP3 or AAC.',
    invalid_request: 'The service refuses these attributes: check scope, resource-id, variants and expires-in.',
    unknown_variant: 'The attribute variants names one that the service does not make.',
  }
  return advice[code] ?? null
}

/** Of the value of an attribute that counts as if it were not there. */
export const valueAdvice = (name: string, value: string | null): string =>
  `${name}="${value}" is not understood (${DOCS}#attributes).`
