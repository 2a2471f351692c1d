import { ENVELOPE } from './contract_keys.ts'

const SHARE =
  'id slug url embed_url scope resource_id title text links variants is_downloadable allowed_origins expires_at has_password feed feed_url created_at'

/** A valid call to each operation for shares and to the ZIP download of a play session (see contract_cases.ts). */
export const shareCases = {
  downloadAll: {
    keys: { '': `${ENVELOPE} play_session_id download`, download: 'variant url file_name files size' },
  },
  listShares: { keys: { '': `${ENVELOPE} count shares`, 'shares.0': SHARE } },
  createShare: {
    body: ({ track_id }: { track_id: string }) => ({ scope: 'track', id: track_id }),
    keys: { '': `${ENVELOPE} share_id share`, share: SHARE },
  },
  getShare: { keys: { '': `${ENVELOPE} share_id share`, share: SHARE } },
  updateShare: { body: () => ({ title: 'Changed' }), keys: { '': `${ENVELOPE} share_id share`, share: SHARE } },
  createShares: {
    body: ({ track_id }: { track_id: string }) => ({ shares: [{ scope: 'track', id: track_id }] }),
    keys: { '': `${ENVELOPE} done refused results`, 'results.0': 'ok share_id share', 'results.0.share': SHARE },
  },
  checkFeed: {
    keys: { '': `${ENVELOPE} share_id feed_url episodes problems`, 'problems.0': 'code message track_ids' },
  },
  revokeShare: { keys: { '': `${ENVELOPE} share_id deleted_share`, deleted_share: SHARE } },
}
