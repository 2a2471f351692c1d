import type * as z from 'zod'

import { type Client, createClient, type Failure, type Result } from '../../client/index.ts'
import type { ApiKey, KeyType } from '../../contract/api_key.ts'
import type { Collection } from '../../contract/collection.ts'
import type { EventPattern, EventType, TonearmEvent } from '../../contract/event.ts'
import type { CoverImage, UploadHandle } from '../../contract/media.ts'
import type { Organization } from '../../contract/organization.ts'
import type { PlayScope } from '../../contract/play.ts'
import type { Playlist, PlaylistTrack as PlaylistTrackSchema } from '../../contract/playlist.ts'
import type { Reprocess } from '../../contract/reprocess.ts'
import type { Share as ShareLink } from '../../contract/share.ts'
import type { StatsScope } from '../../contract/stats_scope.ts'
import type { System } from '../../contract/system.ts'
import type { Track } from '../../contract/track.ts'
import type { ListedTrack } from '../../contract/track_list.ts'
import type { TrackVariant } from '../../contract/track_variant.ts'
import type { TrashedItem } from '../../contract/trash.ts'
import type { Variant } from '../../contract/variant.ts'
import type { WebhookEndpoint } from '../../contract/webhook.ts'
import type {
  AttemptError,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryState,
} from '../../contract/webhook_delivery.ts'

export type Listed = ListedTrack
export type PlaylistTrack = z.infer<typeof PlaylistTrackSchema>

/** The event that is dispatched when the service rejects the key. */
export const REFUSED = 'tonearm-key-refused'

/** Maximum length of a body that is sent although the page ends. Browsers allow 64 KB of such requests at a time. */
const KEEPALIVE_LENGTH = 8000

/** Refused requests wait here for another key of the organization. Null while the key is valid. */
let renewal: PromiseWithResolvers<string | null> | null = null
/** The key that has replaced each refused one. */
const successors = new Map<string, string>()

function latestKey(key: string): string {
  const next = successors.get(key)
  return next === undefined ? key : latestKey(next)
}

/** Reports that the service has refused a key. */
export function refuseKey(api_key: string): void {
  renewal ??= Promise.withResolvers()
  window.dispatchEvent(new CustomEvent(REFUSED, { detail: latestKey(api_key) }))
}

/** Sends the refused requests again with another key, or with null ends them. All clients of the previous key use the new one from now on. */
export function renewKey(from: string, to: string | null): void {
  if (to !== null) {
    successors.delete(to)
    if (from !== to) successors.set(from, to)
  }
  renewal?.resolve(to)
  renewal = null
}

/** Resolves to the next key, or to null if the user signs out. Rejects if the request is aborted. */
const nextKey = (signal: AbortSignal | null | undefined) =>
  new Promise<string | null>((resolve, reject) => {
    void renewal?.promise.then(resolve)
    if (signal?.aborted) reject(signal.reason as Error)
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })

/**
 * Returns `fetch` with a key. After a 401, a request waits until the user has signed in again, and is then repeated, because the service has not executed
 * it. Small changes arrive even if the page is closed or loaded again meanwhile.
 */
export const fetchWith =
  (api_key: string): typeof fetch =>
  async (input, init) => {
    const keepalive = init?.method === 'PUT' && typeof init.body === 'string' && init.body.length < KEEPALIVE_LENGTH
    for (;;) {
      if (renewal) await nextKey(init?.signal)
      const key = latestKey(api_key)
      const headers = { ...(init?.headers as Record<string, string>), authorization: `Bearer ${key}` }
      const response = await fetch(input, { ...init, headers, keepalive })
      if (response.status !== 401) return response
      // The key may have been replaced during the request.
      if (key !== latestKey(api_key)) continue
      refuseKey(key)
      if ((await nextKey(init?.signal)) === null) return response
    }
  }

/** Returns a client of the service from which this page was loaded. */
export const connect = (api_key: string): Client =>
  createClient({ base_url: location.origin, api_key, fetch: fetchWith(api_key) })

export const readPlayView = (client: Client, play_session_id: string, play_track_id: string) =>
  client.get('/v1/play/{play_session_id}/{play_track_id}', { params: { play_session_id, play_track_id } })

export type PlayView = Extract<Awaited<ReturnType<typeof readPlayView>>, { ok: true }>
export type {
  ApiKey,
  AttemptError,
  Client,
  Collection,
  CoverImage,
  EventPattern,
  EventType,
  Failure,
  KeyType,
  Organization,
  Playlist,
  PlayScope,
  Reprocess,
  Result,
  ShareLink,
  StatsScope,
  System,
  TonearmEvent,
  Track,
  TrackVariant,
  TrashedItem,
  UploadHandle,
  Variant,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryState,
  WebhookEndpoint,
}
