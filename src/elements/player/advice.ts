/**
 * Console messages that explain to the developer of a page what is wrong and how to fix it. They are in English, like the other messages of
 * the console. This module is loaded only if there is a message, and imports nothing.
 */

const DOCS = 'docs/player.md'

/** Returns the message for a faulty setup. `fault` is the result of `faultOf` in attributes.ts. */
export function setupAdvice(
  fault: 'id' | 'scope' | 'missing',
  { playSessionId, scope }: { playSessionId: string | null; scope: string | null },
): string {
  if (fault === 'id')
    return `play-session-id="${playSessionId}" is no id. Put in what POST /v1/play_session/{scope} answers as play_session_id, or a signed session (${DOCS}).`
  if (fault === 'scope') return `scope="${scope}" is unknown. Use track, collection or playlist.`
  return 'api-key, scope and resource-id go together: one of them is missing.'
}

/** Returns the message that explains how to fix the failure with a code. Null for failures that also occur on correct pages. */
export function failureAdvice(code: string, { baseUrl }: { baseUrl: string }, origin: string): string | null {
  const service = new URL(baseUrl).origin
  const advice: Record<string, string> = {
    not_found: `${service} has no such session or resource. Check play-session-id or resource-id, and base-url.`,
    unauthorized: `${service} does not know this api-key or signed session. It may have been revoked, or belong to another service (base-url).`,
    insufficient_scope:
      'This api-key may not play this resource. Use a key of type player that is bound to the resource, or to none.',
    origin_not_allowed: `This api-key or signed session does not allow pages of ${origin}. Add that origin to the allowed_origins of the key.`,
    no_playable_variant:
      'This browser plays none of the session’s variants. Sessions without a list of variants contain MP3 or AAC.',
    invalid_request: 'The service refuses these attributes: check scope, resource-id, variants and expires-in.',
    unknown_variant: 'The attribute variants contains a variant that the service does not have.',
  }
  return advice[code] ?? null
}

/** Returns the message for an attribute value that is ignored. */
export const valueAdvice = (name: string, value: string | null): string =>
  `${name}="${value}" is not understood (${DOCS}#attributes).`
