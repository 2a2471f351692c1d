import type { Failure } from '../../client/types.ts'
import type { Problem } from './item.ts'
import type { Texts } from './texts.ts'

/** A failure in the reader's language; what the service alone can explain stays as it says it. */
export function problemOf(failure: Failure, texts: Texts): Problem {
  const { code, message } = failure
  const known: Partial<Record<Failure['code'], string>> = {
    network: texts.noConnection,
    unauthorized: texts.wrongKey,
    insufficient_scope: texts.wrongKeyKind,
    origin_not_allowed: texts.wrongOrigin(location.origin),
    session_expired: texts.sessionExpired,
    not_found: texts.placeNotFound,
    file_too_large: texts.tooLargeForService,
    rate_limited: texts.busy,
    upload_link_expired: texts.coverTooLate,
  }
  return { code, message: known[code] ?? message }
}
