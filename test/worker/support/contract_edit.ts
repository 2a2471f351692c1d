import { COUNTS, ENVELOPE, TRACK } from './contract_keys.ts'

/** Valid calls to the operations for chapters, ZIPs of selected tracks, and statistics. */
export const editCases = {
  createZip: {
    body: ({ track_id }: { track_id: string }) => ({ track_ids: [track_id] }),
    keys: { '': `${ENVELOPE} url expires_at files size` },
  },
  setChapters: {
    body: () => ({ version: '1.2.0', chapters: [{ startTime: 0, title: 'Opening' }] }),
    keys: { '': `${ENVELOPE} track_id track`, track: TRACK, 'track.chapters.0': 'startTime title' },
  },
  getChapters: { keys: { '': `${ENVELOPE} track_id track_version duration version chapters` } },
  deleteChapters: { keys: { '': `${ENVELOPE} track_id track`, track: TRACK } },
  getStats: {
    keys: {
      '': `${ENVELOPE} scope resource_id from to is_rounded by totals rows`,
      totals: COUNTS,
      'rows.0': `key ${COUNTS}`,
    },
  },
  getTopStats: { keys: { '': `${ENVELOPE} scope from to is_rounded rows` } },
  getRetention: { keys: { '': `${ENVELOPE} track_id from to is_rounded duration step visits heard times` } },
  getProgress: { keys: { '': `${ENVELOPE} tracks` } },
  deleteProgress: { keys: { '': `${ENVELOPE} deleted_tracks` } },
}
