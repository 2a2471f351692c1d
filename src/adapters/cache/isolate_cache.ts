import type { SignedUrls } from '../bucket/presign.ts'
import type { TrackFile } from '../bucket/track_files.ts'
import type { PlayedIn, PlayedSession, PlayedTrack } from '../db/play_rows.ts'
import { createKeyCache } from './key_cache.ts'
import { createLru } from './lru.ts'

/** A cached track in its playback context, with the URLs signed for it since. */
export type CachedTrack = PlayedIn & {
  track: PlayedTrack
  files: TrackFile[]
  levels: number[]
  urls: SignedUrls
  until: number
}

/** A cached response without its prefix, which holds the request id. */
export interface CachedResponse {
  suffix: string
  /** The secret that grants access to this entry. */
  secret: string
}

/** The caches of an isolate across requests (docs/decisions/0028): a few tens of its 128 megabytes. */
export function createIsolateCache() {
  const responses = createLru<CachedResponse>({ entries: 2000, bytes: 24e6 })
  const tracks = createLru<CachedTrack>({ entries: 1000, bytes: 32e6 })
  return {
    keys: createKeyCache(),
    /** Cached until they expire, because sessions never change. */
    sessions: createLru<PlayedSession>({ entries: 5000, bytes: 8e6 }),
    tracks,
    responses,
    /** Blocked clients that tried too many ids, by address. */
    blockedClients: createLru<true>({ entries: 10_000, bytes: 1e6 }),
    /** Counts invalidations: a result that was read before one must not be cached after it. */
    changes: 0,
    /** Invalidates an organization's entries, after a change of anything that its listeners see. */
    invalidate(organization_id: string): void {
      this.changes++
      responses.evict(organization_id)
      tracks.evict(organization_id)
    },
  }
}
export type IsolateCache = ReturnType<typeof createIsolateCache>
