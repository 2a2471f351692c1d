import { TRASH_TTL } from '../../contract/facts.ts'
import { t } from '../text.ts'

/** The query with which the studio deletes, so that everything can be restored. */
export const TO_TRASH = { trash: 'true' } as const

/** Days for which deleted items can be restored. */
export const TRASH_DAYS = TRASH_TTL / 86_400
/** Returns the text about the trash in the question before a deletion. */
export const kept = () => t('It can be restored for {days} days.', { days: TRASH_DAYS })
