import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { hasFileLinks } from './share_file.ts'

/** Which shares have a podcast feed, and its address (docs/feeds.md). Apps load the episodes by links to files. */

type Settings = Pick<ShareRow, 'is_downloadable' | 'allowed_origins' | 'password_hash' | 'feed'>
const DEFAULTS: Settings = { is_downloadable: false, allowed_origins: null, password_hash: null, feed: null }

/** Throws 400 if a share with these settings cannot have a feed. */
export function checkFeed(settings: { [K in keyof Settings]?: Settings[K] | undefined }): void {
  const defined = Object.entries(settings).filter(([, value]) => value !== undefined)
  const share: Settings = { ...DEFAULTS, ...Object.fromEntries(defined) }
  if (share.feed && !hasFileLinks(share))
    throw invalid('feed', 'needs a share with is_downloadable, and without a password and allowed_origins')
}

/** Returns the feed of a share. Throws 404 if the share has none. */
export function feedOf(share: ShareRow) {
  if (!share.feed || !hasFileLinks(share)) throw notFound('feed')
  return share.feed
}

/** Returns the address of the feed of a share. */
export const feedAddress = (base_url: string, slug: string) => `${base_url}/s/${slug}/feed.xml`
