/** How the studio deletes: what it deletes can be brought back. */
export const TO_TRASH = { trash: 'true' } as const

/** What a question before a deletion says of that. */
export const KEPT = 'The trash keeps everything for seven days.'
