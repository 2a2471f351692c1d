import type { SignedUrls } from '../bucket/presign.ts'
import type { TrackFile } from '../bucket/track_files.ts'
import { createDatabaseSize } from '../db/database_size.ts'
import type { PlayedIn, PlayedSession, PlayedTrack } from '../db/play/play_rows.ts'
import { createKeyCache } from './key_cache.ts'
import { createLru } from './lru.ts'

/** A cached track with everything that its play view needs, including the URLs that were already signed for it. */
export type CachedTrack = PlayedIn & {
  track: PlayedTrack
  files: TrackFile[]
  levels: number[]
  urls: SignedUrls
  until: number
}

/** A cached response without its prefix, which contains the id of the request. */
export interface CachedResponse {
  suffix: string
  /** The secret in the URL of the request. The rate limit counts requests per secret. */
  secret: string
  /** The number of requests as which the response counts. */
  times: number
  /** The web pages of which sites may read the response; null for all. */
  origins: string[] | null
}

/** The caches that an isolate keeps across requests (docs/decisions/0028). They use less than 70 of its 128 megabytes. */
export function createIsolateCache() {
  const responses = createLru<CachedResponse>({ entries: 2000, bytes: 24e6 })
  const tracks = createLru<CachedTrack>({ entries: 1000, bytes: 32e6 })
  const keys = createKeyCache()
  const sessions = createLru<PlayedSession>({ entries: 5000, bytes: 8e6 })
  return {
    keys,
    /** Sessions never change, so they are cached until they expire; signed ones for a short time, because their key or share may be revoked. */
    sessions,
    tracks,
    responses,
    size: createDatabaseSize(),
    /** Clients that are blocked because they tried too many ids, by IP address. */
    blockedClients: createLru<true>({ entries: 10_000, bytes: 1e6 }),
    /** Clients that entered a wrong password within the last minute, by share and IP address. */
    wrongPasswords: createLru<true>({ entries: 10_000, bytes: 2e6 }),
    /** The number of invalidations so far. A result that was read before an invalidation must not be cached after it. */
    changes: 0,
    /** Removes a key or share that was changed, and the sessions that were signed with it. */
    evictKey(id: string): void {
      keys.evict(id)
      sessions.evictIf(({ value }) => value.signed?.signer_id === id)
    },
    /** Invalidates an organization's entries. It is called after any change that is visible to the organization's listeners. */
    invalidate(organization_id: string): void {
      this.changes++
      responses.evict(organization_id)
      tracks.evict(organization_id)
    },
  }
}
export type IsolateCache = ReturnType<typeof createIsolateCache>
