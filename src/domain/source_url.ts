import { sql } from 'drizzle-orm'

import { type PathOwner, uploadPath } from '../adapters/bucket/track_paths.ts'
import { newId } from '../adapters/crypto/id.ts'
import { seal } from '../adapters/crypto/seal.ts'
import { insertFrom } from '../adapters/db/database.ts'
import { sourceUrls } from '../adapters/db/schema/source_urls.ts'
import type { System } from '../context.ts'
import { MAX_STRING, MULTIPART_TTL } from '../contract/facts.ts'
import { ownHosts, sourceRefusal } from '../contract/public_url.ts'
import { oneLine } from '../contract/text.ts'
import { invalid } from '../core/errors.ts'
import { sendJob } from './jobs.ts'
import { insertImport } from './transcode/queue.ts'

/** URLs from which files of tracks are fetched (docs/decisions/0127). */

/** A file that is fetched for a new track. */
export interface Source {
  url: string
  /** Maximum bytes of the file. */
  max_size: number
  /** The name at the end of the URL; null if it has none. */
  name: string | null
}

/** The `purpose` that `seal` and `unseal` get for a track's URL. */
export const sealPurpose = (track_id: string) => `source_url:${track_id}`

/** The hosts of the service, from which nothing is fetched. `base_url` is the base URL of the request, for a service without a configured one. */
export const hostsOf = (env: Env, base_url = '') => ownHosts([base_url, env.PUBLIC_BASE_URL], env.S3_ENDPOINT)

const portOf = (url: string) => (URL.canParse(url) ? [Number(new URL(url).port || 80)] : [])

/** Throws 400 if nothing is fetched from a URL. The transcoder checks it again, together with its addresses and redirects. */
function checkUrl(env: Env, url: string, base_url: string): void {
  const own = [base_url, env.PUBLIC_BASE_URL, env.S3_ENDPOINT, env.TRANSCODER_URL]
  const closedPorts = env.SOURCE_LOCAL === 'true' ? own.flatMap(portOf) : null
  const refusal = sourceRefusal(url, hostsOf(env, base_url), closedPorts)
  if (refusal) throw invalid('source_url', refusal)
}

/**
 * Returns the name at the end of a URL, if it has an extension. Anything else there may be a secret, which must not be shown.
 */
function nameInUrl(url: string): string | null {
  const last = new URL(url).pathname.split('/').at(-1)!
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // A name with a broken escape is used as it is.
  }
  return /.\.[a-z0-9]{2,5}$/i.test(name) ? oneLine(name).slice(-MAX_STRING).toWellFormed() : null
}

/** Returns the file that is fetched for a new track; null for an upload. Throws 400 if the URL is refused. */
export function sourceOf(
  { env, base_url }: { env: Env; base_url: string },
  { source_url, file_size }: { source_url?: string | undefined; file_size?: number | undefined },
): Source | null {
  if (source_url === undefined) return null
  checkUrl(env, source_url, base_url)
  return { url: source_url, max_size: file_size ?? Number(env.MAX_UPLOAD_BYTES), name: nameInUrl(source_url) }
}

/**
 * Prepares the job that fetches the file of a new track: the columns of the track, the statements that follow its insert, and `wake`, to call after the batch.
 * A repeated insert does nothing, because the track then has the job of the first one.
 */
export async function prepareImport(system: System, track: PathOwner, { url, max_size, name }: Source) {
  const { db, env, now } = system
  const { organization_id } = track
  const id = newId()
  const payload = { kind: 'import' as const, track_id: track.id, path: uploadPath(track), max_size }
  const sealed = await seal(env.SIGNING_SECRET, sealPurpose(track.id), url)
  const isOwner = sql`tracks where id = ${track.id} and job_id = ${id}`
  return {
    columns: {
      job_id: id,
      progress: 0,
      upload_expires_at: now + MULTIPART_TTL * 1000,
      ...(name !== null && { file_name_original: name }),
    },
    statements: [
      insertFrom(db, sourceUrls, { track_id: track.id, sealed }, isOwner).onConflictDoNothing(),
      insertImport(system, { id, organization_id, payload }, isOwner),
    ],
    wake: () => sendJob(system, { id, payload }),
  }
}
