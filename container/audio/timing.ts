import type { Source } from './probe.ts'

/** Every output starts with the sound, and its time stamps count its samples (docs/decisions/0062). */

/** Flags of an input whose sound starts later than the file: its first time stamp becomes 0, up to the delay of its codec. */
export const startFlags = ({ offset }: Source): string[] => (offset > 0 ? ['-itsoffset', String(-offset)] : [])

/** The longest silence that fills a gap, in seconds, and in bytes that each graph may hold of it; a longer gap is closed. */
const LONGEST_GAP = 30
const GAP_BYTES = 2 ** 24
const SAMPLE_BYTES = 4
/** Formats whose packets have time stamps of their own. ffmpeg computes those of the others, such as FLAC, so gaps there are only guessed. */
const STAMPED = /mov|matroska|ogg|mpeg|avi|flv|asf/

/**
 * The filters that every output begins with. The first frame of a file gets the time 0: what it has is the delay of its codec, below half a second. Later
 * beginnings are of new graphs, which ffmpeg makes when a source changes its format half-way. Time never goes back, so that no sound is
 * dropped. Gaps above 0.1 s are filled with silence.
 */
export function timeFilters({ container, sampleRate, channels }: Source): string[] {
  const longest = STAMPED.test(container) ? LONGEST_GAP : 0
  const seconds = Math.min(longest, GAP_BYTES / (sampleRate * channels * SAMPLE_BYTES))
  // 0: the end of the frame before. 1: this frame's time. 2: silence that aresample has not put out yet; it puts out at least a frame
  // more than it takes in. 3: what closed gaps have taken off. 4: the gap before this frame.
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

/** The filters that end AAC at its edit list. What is measured goes on, which tells whether the header is right. */
export const endFilters = ({ end }: Source): string[] => (end === null ? [] : [`atrim=end_pts=${end}`])
