import { TRASH_TTL } from '../../contract/facts.ts'

/** The query with which the studio deletes, so that everything can be restored. */
export const TO_TRASH = { trash: 'true' } as const

export const KEPT_FOR = `${TRASH_TTL / 86_400} days`
/** The text about the trash in the question before a deletion. */
export const KEPT = `It can be restored for ${KEPT_FOR}.`
