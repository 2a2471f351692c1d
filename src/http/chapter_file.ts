import type { Context as Request, Hono } from 'hono'

import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { CHAPTER_TYPES, chapterFile, type ChapterFormat } from '../contract/chapter_files.ts'
import { Id } from '../contract/common.ts'
import { PlaySessionId } from '../contract/play.ts'
import { notFound } from '../core/errors.ts'
import { LISTENER } from '../core/principal.ts'
import { toChapter } from '../resources/library/resource_fields.ts'
import { findPlayback } from '../resources/play/playback.ts'
import { HEADERS } from './answer.ts'
import { countedPart, limitReading } from './auth/limit_rate.ts'
import { type AppEnv, contextOf } from './context.ts'
import { readNearest } from './listen/read_nearest.ts'

const ROUTE = '/v1/play/:play_session_id/:play_track_id/:file{chapters\\.(?:json|vtt)}'

/** Adds `chapter_files` of play views: the chapters of a track as a file, for the listeners of a session. */
export function mountChapterFiles(app: Hono<AppEnv>, cache: IsolateCache): void {
  app.get(ROUTE, async (c: Request<AppEnv, typeof ROUTE>) => {
    const session_id = PlaySessionId.safeParse(c.req.param('play_session_id'))
    if (!session_id.success) throw notFound('play session')
    const track_id = Id.safeParse(c.req.param('play_track_id'))
    if (!track_id.success) throw notFound('track')
    const { session, track } = await limitReading(c, cache, countedPart(session_id.data), () =>
      readNearest(c.env, (client) =>
        findPlayback(contextOf(c, LISTENER, cache, client), session_id.data, track_id.data),
      ),
    )
    c.set('organization_id', session.organization_id)
    const format = c.req.param('file').split('.')[1] as ChapterFormat
    const file = chapterFile(format, track.chapters.map(toChapter), track.duration)
    return c.body(file, 200, { ...HEADERS, 'content-type': CHAPTER_TYPES[format] })
  })
}
