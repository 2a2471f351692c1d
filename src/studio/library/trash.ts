import { TRASH_TTL } from '../../contract/facts.ts'

/** How the studio deletes: what it deletes can be brought back. */
export const TO_TRASH = { trash: 'true' } as const

export const KEPT_FOR = `${TRASH_TTL / 86_400} days`
/** What a question before a deletion says of that. */
export const KEPT = `It can be restored for ${KEPT_FOR}.`
