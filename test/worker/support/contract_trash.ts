import { ENVELOPE } from './contract_keys.ts'

const TRASHED = 'id scope title collection_id trashed_at expires_at'

/** A valid call to each trash operation (see contract_cases.ts). */
export const trashCases = {
  listTrash: { keys: { '': `${ENVELOPE} count trash`, 'trash.0': TRASHED } },
  restoreTrash: { keys: { '': `${ENVELOPE} trash_id restored_trash`, restored_trash: TRASHED } },
  deleteTrash: { keys: { '': `${ENVELOPE} trash_id deleted_trash`, deleted_trash: TRASHED } },
  emptyTrash: { keys: { '': `${ENVELOPE} deleted left` } },
}
