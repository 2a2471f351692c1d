import { and, eq, getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type * as z from 'zod'

import { attachment } from '../../adapters/bucket/attachment.ts'
import { viewSigner } from '../../adapters/bucket/presign.ts'
import { newHourlyId } from '../../adapters/crypto/id.ts'
import { insertFrom, prepareOnce } from '../../adapters/db/database.ts'
import type { PlayedSession } from '../../adapters/db/play/play_rows.ts'
import { batch } from '../../adapters/db/query.ts'
import { retrying } from '../../adapters/db/retry.ts'
import { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import { checkSessionId } from '../../adapters/db/session_id.ts'
import type { Context, Handlers } from '../../context.ts'
import { withoutExtension } from '../../contract/facts.ts'
import type { playOperations, PlayScope, PlaySessionCreate } from '../../contract/play.ts'
import { ApiError, invalid, notFound, notReady } from '../../core/errors.ts'
import { isShare, keyOf, type ShareHolder } from '../../core/principal.ts'
import { checkExpiry, timestamp } from '../../core/time.ts'
import { bindingScope, chosenVariants, mayDownload, mayReach, inScope } from '../keys/access.ts'
import { shareNotFound } from '../share/share_holder.ts'
import { listenerHash } from './listener.ts'
import { findPlayback, playTrack } from './playback.ts'
import { decodeView, isSigned, rowReader, type Wanted } from './session_reader.ts'
import { bindView, playSession, readView, toPlaySession, toView } from './session_view.ts'
import { signShared } from './share_token.ts'
import { findZip } from './zip.ts'

/** Inserts a session if its resource exists, belongs to the caller's organization, and matches the binding of the caller's key. */
const insertSession = (resources: SQL, condition = sql`true`) =>
  prepareOnce((db) => {
    const values = Object.keys(getTableColumns(playSessions)).map((name) => [name, sql.placeholder(name)])
    const { resource_id: _, ...row } = Object.fromEntries(values) as Record<
      keyof typeof playSessions.$inferInsert,
      Placeholder
    >
    const source = sql`${resources} where id = ${sql.placeholder('resource_id')}
      and organization_id = ${sql.placeholder('organization_id')} and ${condition}`
    return insertFrom(db, playSessions, { ...row, resource_id: sql`id` }, source).returning({ id: playSessions.id })
  })
const insertOf: Record<PlayScope, ReturnType<typeof prepareOnce>> = {
  collection: insertSession(sql`collections`),
  // The tracks of a deleted collection are hidden, although their rows may still exist for a moment.
  track: insertSession(
    sql`tracks`,
    sql`exists (select 1 from collections where id = tracks.collection_id) and ${inScope}`,
  ),
  playlist: insertSession(sql`playlists`),
}

/** Returns which play views the request for a new session wants. */
const firstViews = ({ views }: { views?: number | undefined }): Wanted | null => (views ? { views, from: null } : null)

/** Returns the view of a session to its creator. `wanted` is what the request for the session wanted, if that request is repeated. */
export async function findPlaySession(
  context: Context,
  play_session_id: string,
  wanted: { views?: number | undefined } = {},
) {
  if (isSigned(play_session_id)) return findSignedSession(context, play_session_id)
  checkSessionId(play_session_id, context.now)
  const session = await context.db
    .select()
    .from(playSessions)
    .where(
      and(eq(playSessions.id, play_session_id), eq(playSessions.organization_id, context.principal.organization_id)),
    )
    .get()
  if (session && !(await mayReach(context, session.scope, session.resource_id))) throw notFound('play session')
  const { id, ...row } = checkExpiry('play session', session, context.now)
  const { view } = await readView(context, id, firstViews(wanted))
  return { ...view, play_session: toPlaySession({ id, ...row }) }
}

/** Returns the view of a signed session to a key of its organization. Throws 404 for the key of another one. */
async function findSignedSession(context: Context, token: string) {
  const { view, session } = await readView(context, token, null)
  const isOwn = session.organization_id === context.principal.organization_id
  if (!isOwn || !(await mayReach(context, session.scope, session.resource_id))) throw notFound('play session')
  return { ...view, play_session: toSignedSession(session) }
}

const toSignedSession = (session: PlayedSession) =>
  toPlaySession({ ...session, creator_id: null, organization_index: null, metadata: {} })

/** The fields that only a session with a row can have. */
const STORED = ['creator_id', 'organization_index', 'metadata'] as const

/**
 * Signs a session with the key of a share, so that its audience writes no rows (docs/decisions/0125). The statement that reads the view checks the share at the
 * primary, because the key in the cache may be older than a change of the share. Throws 401 if the share was revoked, or has another address or password.
 */
async function signForShare(
  context: Context,
  share: ShareHolder,
  { scope, id, variants, body }: { scope: PlayScope; id: string; variants: string[]; body: Body },
) {
  const field = STORED.find((name) => body[name] !== undefined && body[name] !== null)
  if (field) throw new ApiError('insufficient_scope', `The key of a share cannot set ${field}`)
  const { is_downloadable = false, expires_in } = body
  const isWhole = variants.join() === share.variants?.join()
  const signed = { scope, id, variants: isWhole ? null : variants, is_downloadable, expires_in }
  const { token } = await signShared(context.env, { id: share.api_key_id, ...share.share }, signed, context.now)
  try {
    const { view, session } = await readView(context, token, firstViews(body))
    return { ...view, play_session: toSignedSession(session), expires_at: timestamp(session.expires_at) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'session_expired') throw error
    context.cache.evictKey(share.api_key_id)
    throw shareNotFound()
  }
}
type Body = z.infer<typeof PlaySessionCreate>

export const playHandlers: Handlers<typeof playOperations> = {
  async createPlaySession({ params: { scope }, body }, context) {
    const { db, principal, now } = context
    const variants = await chosenVariants(context, body.variants)
    const resource_id = body[`${scope}_id`]
    if (!resource_id) throw invalid(`${scope}_id`, `is required when the scope is ${scope}`)
    const bound = bindingScope(principal, scope, resource_id)
    if (!bound) throw notFound(scope)
    const { creator_id = null, organization_index = null, metadata = {}, is_downloadable = false } = body
    // A key in a browser could change the progress of every listener.
    if (body.listener !== undefined && principal.kind !== 'server')
      throw new ApiError('insufficient_scope', 'Only a server key may set listener')
    const holder = keyOf(principal)
    if (isShare(holder)) return signForShare(context, holder, { scope, id: resource_id, variants, body })
    const listener = body.listener === undefined ? null : await listenerHash(context, body.listener)
    // The expiry is in whole seconds, because that of the session's URLs is as well.
    const expires_at = (Math.floor(now / 1000) + Math.floor(body.expires_in)) * 1000
    const facts = {
      organization_id: principal.organization_id,
      scope,
      resource_id,
      creator_id,
      organization_index,
      metadata,
      variants,
      // Downloads are possible only if both the request and the key allow them. A server key always allows them.
      is_downloadable: is_downloadable && mayDownload(principal),
      expires_at,
      created_at: now,
      listener,
    }
    const wanted = firstViews(body)
    // A session that a lost attempt has created has no effect, because no caller knows its id.
    const { session, rows } = await retrying(async () => {
      const session = { ...facts, id: newHourlyId(expires_at) }
      const insert = insertOf[scope](db, { ...session, ...bound, share_id: null })
      return { session, rows: await batch(db, [insert, ...bindView(db, rowReader(session.id), wanted)]) }
    })
    const [inserted, ...found] = rows
    if (inserted!.length === 0) throw notFound(scope)
    const { view } = await toView(context, { decodeView }, found, wanted)
    return { ...view, play_session: toPlaySession(session), expires_at: timestamp(expires_at) }
  },

  getPlaySession: ({ params }, context) => findPlaySession(context, params.play_session_id),

  playSession,

  async downloadAll({ params: { play_session_id }, query }, context) {
    const { variant, file_name, entries, size } = await findZip(context, play_session_id, query.variant)
    const url = `${context.base_url}/zip/${play_session_id}?variant=${variant}`
    return { play_session_id, download: { variant, url, file_name, files: entries.length, size } }
  },

  playTrack,

  async downloadTrack({ params }, context) {
    const { session, track, files, is_preliminary } = await findPlayback(
      context,
      params.play_session_id,
      params.play_track_id,
    )
    if (!session.is_downloadable) {
      throw new ApiError(
        'download_not_allowed',
        'This play session was created without is_downloadable, or with a key that does not allow it',
      )
    }
    // Files of a track that is still being processed cannot be downloaded.
    if (is_preliminary) throw notReady(track.status)
    const file = files.find((f) => f.index === params.variant_index)
    if (!file) throw notFound('variant')
    const extension = /\.[a-z0-9]+$/.exec(file.path)?.[0]
    const name = file.index === 'original' ? track.file_name : `${withoutExtension(track.file_name)}${extension}`
    const sign = await viewSigner(context.env, context.now, session.expires_at)
    const url = await sign(file.path, { 'response-content-disposition': attachment(name) })
    const { organization_id, scope, resource_id: id, share_id: share } = session
    const via = { scope, id, share }
    context.countDownload?.({ organization_id, track: track.id, collection: track.collection_id, via })
    return { play_session_id: session.id, track_id: track.id, download: { variant: file.index, url } }
  },
}
