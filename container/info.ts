import type * as z from 'zod'

import type { JobResult } from '../src/contract/job.ts'
import type { Pass } from './command.ts'
import type { Tools } from './ffmpeg.ts'
import type { Loudness } from './loudness.ts'
import type { Source } from './probe.ts'

type Facts = { source: Source; size: number; loudness: Loudness; pass: Pass; tools: Tools; duration: number }

/** The technical facts of a track: what its source was and how loud it is. */
export function trackInfo({ source, size, loudness, pass, tools }: Facts): z.infer<typeof JobResult>['info'] {
  return {
    container: source.container,
    codec: source.codec,
    profile: source.profile,
    sample_rate: source.sampleRate,
    channels: source.channels,
    channel_layout: source.channelLayout,
    bit_depth: source.bitDepth,
    bitrate: source.bitrate,
    lossless: source.lossless,
    size,
    tags: source.tags,
    chapters: source.chapters.slice(0, 64),
    chapter_count: source.chapterCount,
    has_cover: source.picture !== null,
    loudness: { ...loudness },
    pass,
    ffmpeg: tools.version,
  }
}

/** The `analysis` variant: loudness and the few facts a player wants with it. */
export function analysis({ source, loudness, duration }: Facts) {
  return {
    ...loudness,
    duration,
    codec: source.codec,
    sample_rate: source.sampleRate,
    channels: source.channels,
    channel_layout: source.channelLayout,
    bit_depth: source.bitDepth,
    bitrate: source.bitrate,
  }
}
