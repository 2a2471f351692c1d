import type { Chapter } from './chapter.ts'
import { formatClock } from './facts.ts'
import { oneLine } from './text.ts'

/** Chapters as files: for podcast apps (JSON Chapters 1.2) and for the element `<track kind="chapters">` (WebVTT). This file must not import zod. */

/** The content types of the files by their extension. */
export const CHAPTER_TYPES = { json: 'application/json+chapters', vtt: 'text/vtt; charset=utf-8' } as const
export type ChapterFormat = keyof typeof CHAPTER_TYPES

/** Version of the format JSON Chapters. */
export const CHAPTERS_VERSION = '1.2.0'
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Returns seconds as a WebVTT timestamp: `3661.5` → `01:01:01.500`. */
function timestamp(seconds: number): string {
  const total = Math.round(seconds * 1000)
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0')
  return `${part(total / 3_600_000)}:${part((total / 60_000) % 60)}:${part((total / 1000) % 60)}.${part(total % 1000, 3)}`
}

/**
 * Returns the text of a cue. A line break would end it, `<` and `&` would be markup, and `-->` is not allowed in it (WebVTT, W3C). A chapter without a title has its
 * start, because players list the text.
 */
const cueText = ({ startTime, title = '' }: Chapter) =>
  oneLine(title).replace(/[&<>]/g, (char) => ESCAPES[char]!) || formatClock(startTime)

/** Returns the chapters that players list as WebVTT. `duration` is that of the track in seconds, at which the last chapter ends. */
function webVtt(chapters: readonly Chapter[], duration: number): string {
  const listed = chapters.filter(({ toc }) => toc !== false)
  const cues = listed.map((chapter, at) => {
    const { startTime, endTime = listed[at + 1]?.startTime ?? duration } = chapter
    // A cue must end after its start. The duration is 0 before it is known, and chapters of the file may start after the end.
    const end = Math.max(endTime, startTime + 0.001)
    return `${timestamp(startTime)} --> ${timestamp(end)}\n${cueText(chapter)}\n`
  })
  return ['WEBVTT\n', ...cues].join('\n')
}

/** Returns chapters as a file. `duration` is that of the track in seconds; 0 before it is known. */
export const chapterFile = (format: ChapterFormat, chapters: readonly Chapter[], duration: number): string =>
  format === 'vtt' ? webVtt(chapters, duration) : JSON.stringify({ version: CHAPTERS_VERSION, chapters })
