import * as z from 'zod'

import { Chapter } from './chapter.ts'
import { CHAPTER_TYPES, CHAPTERS_VERSION, chapterFile } from './chapter_files.ts'
import { Id, ok, RequiredTitle, VersionHeaders } from './common.ts'
import { MAX_BATCH_BYTES, MAX_CHAPTERS } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Track } from './track.ts'

/** A document in the format JSON Chapters 1.2, without the fields that do not belong to chapters. */
export const Chapters = z.strictObject({
  /** Version of the format, such as `1.2.0`. */
  version: z
    .string()
    .regex(/^1\.\d{1,3}(\.\d{1,3})?$/, 'must be a version 1 of JSON Chapters, such as 1.2.0')
    .optional(),
  /** In the order of their start. */
  chapters: z
    .array(
      z.strictObject(
        Chapter.extend({
          /** Shown in the list of players, on one line. */
          title: RequiredTitle.optional(),
        }).shape,
      ),
    )
    .max(MAX_CHAPTERS)
    .superRefine((chapters, context) => {
      for (const [at, { startTime, endTime }] of chapters.entries()) {
        const refuse = (field: string, message: string) =>
          context.addIssue({ code: 'custom', path: [at, field], message })
        if (at > 0 && startTime <= chapters[at - 1]!.startTime) refuse('startTime', 'must be after the chapter before')
        if (endTime !== undefined && endTime <= startTime) refuse('endTime', 'must be after startTime')
      }
    }),
})
export type Chapters = z.infer<typeof Chapters>

const tag = 'Tracks'
const params = z.object({
  /** As returned when the track was created. */
  track_id: Id,
})
const response = ok({
  /** The same as `track.id`. */
  track_id: z.uuid(),
  track: Track,
})

export interface ChapterList {
  chapters: Chapter[]
  duration: number
}

export const chapterOperations = defineOperations({
  getChapters: {
    method: 'get',
    path: '/v1/track/{track_id}/chapters',
    summary:
      "Get a track's chapters as listeners see them; a file with `Accept: application/json+chapters` or `text/vtt` (curl, fetch)",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'edit',
    params,
    response: ok({
      /** As in the path. */
      track_id: z.uuid(),
      /** The `version` of the track, for `If-Match`. */
      track_version: z.int(),
      /** Length of the track in seconds; 0 before it is known. */
      duration: z.number(),
      /** Version of the format JSON Chapters. */
      version: z.literal(CHAPTERS_VERSION),
      /** Those that a person has set, otherwise those of the file. */
      chapters: z.array(Chapter),
    }),
    files: {
      [CHAPTER_TYPES.json]: ({ chapters, duration }: ChapterList) => chapterFile('json', chapters, duration),
      [CHAPTER_TYPES.vtt]: ({ chapters, duration }: ChapterList) => chapterFile('vtt', chapters, duration),
    },
    etag: ({ track_version }: { track_version: number }) => track_version,
  },
  setChapters: {
    method: 'put',
    path: '/v1/track/{track_id}/chapters',
    grows: false,
    summary: "Set a track's chapters, in the format JSON Chapters 1.2; listeners see them instead of those of the file",
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'edit',
    params,
    headers: VersionHeaders,
    body_size: MAX_BATCH_BYTES,
    body: Chapters,
    response,
    errors: ['version_mismatch'],
  },
  deleteChapters: {
    method: 'delete',
    path: '/v1/track/{track_id}/chapters',
    summary: 'Return to the chapters of the file',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'edit',
    params,
    headers: VersionHeaders,
    response,
    errors: ['version_mismatch'],
  },
})
