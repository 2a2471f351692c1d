import { ENVELOPE, TRACK } from './contract_keys.ts'
import type { Workspace } from './contract_workspace.ts'

/** Valid calls to the operations for chapters and for ZIPs of selected tracks. */
export const editCases = {
  createZip: {
    body: ({ track_id }: Workspace) => ({ track_ids: [track_id] }),
    keys: { '': `${ENVELOPE} url expires_at files size` },
  },
  setChapters: {
    body: () => ({ version: '1.2.0', chapters: [{ startTime: 0, title: 'Opening' }] }),
    keys: { '': `${ENVELOPE} track_id track`, track: TRACK, 'track.chapters.0': 'startTime title' },
  },
  deleteChapters: { keys: { '': `${ENVELOPE} track_id track`, track: TRACK } },
}
