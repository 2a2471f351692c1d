import { createKeyCache } from './key_cache.ts'
import { createLru } from './lru.ts'
import type { PlayedIn, PlayedSession, PlayedTrack } from './play_rows.ts'
import type { SignedUrls } from './presign.ts'
import type { PlayedFile } from './track_files.ts'

/** A track in what it is played in, as it was read, and the URLs that were signed of it since. */
export type KeptTrack = PlayedIn & {
  track: PlayedTrack
  files: PlayedFile[]
  levels: number[]
  urls: SignedUrls
  until: number
}

/** An answer without its beginning, which holds the request's id. */
export interface KeptAnswer {
  rest: string
  /** What a caller must know for it. */
  secret: string
}

/** What an isolate remembers from one request to the next (docs/decisions/0028). A few tens of megabytes of the 128 that it has. */
export function createMemory() {
  const answers = createLru<KeptAnswer>({ entries: 2000, bytes: 24e6 })
  const tracks = createLru<KeptTrack>({ entries: 1000, bytes: 32e6 })
  return {
    keys: createKeyCache(),
    /** Until they end: they never change. */
    sessions: createLru<PlayedSession>({ entries: 5000, bytes: 8e6 }),
    tracks,
    answers,
    /** Clients that tried too many ids, by their address. */
    guessers: createLru<true>({ entries: 10_000, bytes: 1e6 }),
    /** How often something was forgotten: what was read before that is not to be remembered. */
    changes: 0,
    /** After a change of anything that an organization's listeners see. */
    forget(organization_id: string): void {
      this.changes++
      answers.forget(organization_id)
      tracks.forget(organization_id)
    },
  }
}
export type Memory = ReturnType<typeof createMemory>
