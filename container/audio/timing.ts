import type { Source } from './source/probe.ts'

/** Every output starts with the sound, and its timestamps count samples (docs/decisions/0062). */

/** Flags for an input whose sound starts later than the file: its first timestamp becomes 0, up to the delay of its codec. */
export const startFlags = ({ offset }: Source): string[] => (offset > 0 ? ['-itsoffset', String(-offset)] : [])

/** The longest gap that is filled with silence, in seconds and in bytes that each graph may hold; a longer gap is closed. */
const LONGEST_GAP = 30
const GAP_BYTES = 2 ** 24
const SAMPLE_BYTES = 4
/** Formats whose packets have timestamps. For the others, such as FLAC, ffmpeg computes them, so gaps there are only guesses. */
const STAMPED = /mov|matroska|ogg|mpeg|avi|flv|asf/

/**
 * The filters at the start of every output. The first frame of a file gets timestamp 0: its original one is the codec delay, below half a
 * second. Later STARTPTS values come from new graphs, which ffmpeg creates when the format changes within the source. Time never goes
 * backwards, so that no sound is dropped. Gaps above 0.1 s are filled with silence.
 */
export function timeFilters({ container, sampleRate, channels }: Source): string[] {
  const longestGap = STAMPED.test(container) ? LONGEST_GAP : 0
  const seconds = Math.min(longestGap, GAP_BYTES / (sampleRate * channels * SAMPLE_BYTES))
  // 0: the end of the previous frame. 1: the time of this frame. 2: silence that aresample has not output yet; it outputs at least one
  // frame more than it receives. 3: the total of the closed gaps. 4: the gap before this frame.
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

/** The filters that end AAC at its edit list. Measurement continues past it, which shows whether the header is right. */
export const endFilters = ({ end }: Source): string[] => (end === null ? [] : [`atrim=end_pts=${end}`])
