import type { Source } from './source/probe.ts'

/**
 * The timing of the outputs: each starts with the sound, and its timestamps are computed from the number of samples (docs/decisions/0062).
 */

/**
 * Returns flags for an input whose sound starts later than the file. They shift its first timestamp to 0, except for the delay of its
 * codec.
 */
export const startFlags = ({ offset }: Source): string[] => (offset > 0 ? ['-itsoffset', String(-offset)] : [])

/** Maximum length of a gap that is filled with silence, in seconds and in bytes per filter graph. A longer gap is closed. */
const LONGEST_GAP = 30
const GAP_BYTES = 2 ** 24
const SAMPLE_BYTES = 4
/** Formats whose packets have timestamps. For other formats, such as FLAC, ffmpeg computes the timestamps, so gaps are not reliable. */
const STAMPED = /mov|matroska|ogg|mpeg|avi|flv|asf/

/**
 * Returns the filters at the start of every output. The first frame of a file gets timestamp 0; its original timestamp is the delay of the
 * codec, which is below half a second. A larger STARTPTS belongs to a new graph, which ffmpeg creates when the format changes within the
 * source. Timestamps never decrease, so that no sound is dropped. Gaps above 0.1 s are filled with silence, except in chained files: ffmpeg places each piece
 * a few milliseconds too late.
 */
export function timeFilters({ container, isChained, sampleRate, channels }: Source): string[] {
  const longestGap = STAMPED.test(container) && !isChained ? LONGEST_GAP : 0
  const seconds = Math.min(longestGap, GAP_BYTES / (sampleRate * channels * SAMPLE_BYTES))
  // Variables of the expression: 0 is the end of the previous frame. 1 is the time of this frame. 2 is the silence that aresample has not
  // output yet; it outputs at least one frame more than it receives. 3 is the total length of the closed gaps. 4 is the gap before this
  // frame.
  const steps = [
    'st(1,PTS-if(lt(STARTT,0.5),STARTPTS,0)-ld(3))',
    'st(4,if(gt(N,0),max(0,ld(1)-ld(0)),0))',
    'st(2,max(0,ld(2)-NB_SAMPLES)+ld(4))',
    `if(gt(ld(2),${Math.round(seconds * sampleRate)}),st(3,ld(3)+ld(4))+st(2,ld(2)-ld(4))+st(1,ld(0)))`,
    'st(1,max(ld(1),ld(0)))',
    'st(0,ld(1)+NB_SAMPLES)',
    'ld(1)',
  ]
  return [`asetpts='${steps.join(';')}'`, 'aresample=async=1:min_hard_comp=0.1']
}

/** Returns the filters that end AAC at the end of its edit list. The measurement continues after that, to detect a wrong header. */
export const endFilters = ({ end }: Source): string[] => (end === null ? [] : [`atrim=end_pts=${end}`])
