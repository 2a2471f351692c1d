import { and, eq } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import type { TrackErrorCode } from '../../contract/track_errors.ts'
import type { QueuedJob } from '../jobs.ts'

/** Matches the track whose status a job owns. The track is looked up by its id, because `job_id` has no index. */
export const trackOf = ({ id, payload }: Pick<QueuedJob, 'id'> & { payload: { track_id: string } }) =>
  and(eq(tracks.id, payload.track_id), eq(tracks.job_id, id))!

/** The `info` of a failed track. */
export const failure = (code: TrackErrorCode, message: string, attempt = 0) => ({ error: { code, message, attempt } })
