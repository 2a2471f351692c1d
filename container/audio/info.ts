import { Analysis, type Loudness, type SourceInfo } from '../../src/contract/info.ts'
import type { Tools } from '../process/ffmpeg.ts'
import type { Pass } from './command.ts'
import { silenceAtEnds } from './measure/duration.ts'
import type { PcmSummary } from './measure/levels.ts'
import type { Source } from './source/probe.ts'

type Measured = {
  source: Source
  size: number
  pcm: PcmSummary
  loudness: Loudness
  pass: Pass
  tools: Tools
  duration: number
}

/** Returns the technical information about a track: the format of its source, and its loudness. */
export function sourceInfo(measured: Measured): SourceInfo {
  const { source, pcm, loudness, duration } = measured
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
    size: measured.size,
    tags: source.rawTags,
    chapters: source.chapters.slice(0, 64),
    chapter_count: source.chapterCount,
    has_cover: source.picture !== null,
    loudness,
    silence: silenceAtEnds(pcm, source.sampleRate, duration),
    pass: measured.pass,
    ffmpeg: measured.tools.version,
  }
}

export const analysis = (measured: Measured): Analysis =>
  Analysis.parse({ ...sourceInfo(measured), ...measured.loudness, duration: measured.duration })
