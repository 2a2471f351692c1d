import type * as z from 'zod'

import type { JobResult } from '../src/contract/job.ts'
import type { Pass } from './command.ts'
import { silenceAtEnds } from './duration.ts'
import type { Tools } from './ffmpeg.ts'
import type { PcmSummary } from './levels.ts'
import type { Loudness } from './loudness.ts'
import type { Source } from './probe.ts'

type Facts = {
  source: Source
  size: number
  pcm: PcmSummary
  loudness: Loudness
  pass: Pass
  tools: Tools
  duration: number
}

/** The technical facts of a track: what its source was and how loud it is. */
export function trackInfo(facts: Facts): z.infer<typeof JobResult>['info'] {
  const { source, pcm, loudness, duration } = facts
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
    size: facts.size,
    tags: source.tags,
    chapters: source.chapters.slice(0, 64),
    chapter_count: source.chapterCount,
    has_cover: source.picture !== null,
    loudness: { ...loudness },
    silence: silenceAtEnds(pcm, source.sampleRate, duration),
    pass: facts.pass,
    ffmpeg: facts.tools.version,
  }
}

/** The `analysis` variant: loudness and the few facts a player wants with it. */
export function analysis({ source, pcm, loudness, duration }: Facts) {
  return {
    ...loudness,
    duration,
    silence: silenceAtEnds(pcm, source.sampleRate, duration),
    codec: source.codec,
    sample_rate: source.sampleRate,
    channels: source.channels,
    channel_layout: source.channelLayout,
    bit_depth: source.bitDepth,
    bitrate: source.bitrate,
  }
}
