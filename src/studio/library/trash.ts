import { TRASH_TTL } from '../../contract/facts.ts'

/** The query with which the studio deletes, so that everything can be restored. */
export const TO_TRASH = { trash: 'true' } as const

/** Days for which deleted items can be restored. */
export const TRASH_DAYS = TRASH_TTL / 86_400
/** The text about the trash in the question before a deletion. */
export const KEPT = `It can be restored for ${TRASH_DAYS} days.`
