/** The speaker position of each channel. */
export type Layout = {
  /** The layout in the notation of ffmpeg's filters. */
  channelLayout: string
  /** The speaker of each channel, as named by ffmpeg: `FL`, `LFE`, `TBR` … */
  speakers: string[]
}

/** The layouts with at most eight channels for which ffmpeg has a name (`ffmpeg -layouts`). */
const NAMED: Record<string, string> = {
  mono: 'FC',
  stereo: 'FL+FR',
  downmix: 'DL+DR',
  '2.1': 'FL+FR+LFE',
  '3.0': 'FL+FR+FC',
  '3.0(back)': 'FL+FR+BC',
  '4.0': 'FL+FR+FC+BC',
  quad: 'FL+FR+BL+BR',
  'quad(side)': 'FL+FR+SL+SR',
  '3.1': 'FL+FR+FC+LFE',
  '5.0': 'FL+FR+FC+BL+BR',
  '5.0(side)': 'FL+FR+FC+SL+SR',
  '4.1': 'FL+FR+FC+LFE+BC',
  '5.1': 'FL+FR+FC+LFE+BL+BR',
  '5.1(side)': 'FL+FR+FC+LFE+SL+SR',
  '6.0': 'FL+FR+FC+BC+SL+SR',
  '6.0(front)': 'FL+FR+FLC+FRC+SL+SR',
  '3.1.2': 'FL+FR+FC+LFE+TFL+TFR',
  hexagonal: 'FL+FR+FC+BL+BR+BC',
  '6.1': 'FL+FR+FC+LFE+BC+SL+SR',
  '6.1(back)': 'FL+FR+FC+LFE+BL+BR+BC',
  '6.1(front)': 'FL+FR+LFE+FLC+FRC+SL+SR',
  '7.0': 'FL+FR+FC+BL+BR+SL+SR',
  '7.0(front)': 'FL+FR+FC+FLC+FRC+SL+SR',
  '7.1': 'FL+FR+FC+LFE+BL+BR+SL+SR',
  '7.1(wide)': 'FL+FR+FC+LFE+BL+BR+FLC+FRC',
  '7.1(wide-side)': 'FL+FR+FC+LFE+FLC+FRC+SL+SR',
  '5.1.2': 'FL+FR+FC+LFE+BL+BR+TFL+TFR',
  octagonal: 'FL+FR+FC+BL+BR+BC+SL+SR',
  cube: 'FL+FR+BL+BR+TFL+TFR+TBL+TBR',
}

/** The layouts that ffmpeg assumes for one to eight channels of unknown layout. */
const ASSUMED = ['mono', 'stereo', '2.1', '4.0', '5.0', '5.1', '6.1', '7.1']
/**
 * The layouts that FLAC, Vorbis and Opus define for one to eight channels. They are used for sources of unknown layout, so that a third
 * channel is not dropped as an LFE, and four channels are quad (RFC 9639 §9.1.3).
 */
const LIKELY = ['mono', 'stereo', '3.0', 'quad', '5.0', '5.1', '6.1', '7.1']

/** Returns the layout for a name as ffprobe prints it, such as `5.1(side)` or `3 channels (FC+LFE+BC)`. */
export function layoutOf(name: string | undefined, channels: number): Layout {
  const custom = /^\d channels \(([A-Z]+\d?(?:\+[A-Z]+\d?)*)\)$/.exec(name ?? '')?.[1]
  const speakerList = custom ?? NAMED[name ?? '']
  const speakers = speakerList?.split('+')
  if (speakers?.length !== channels) {
    return { channelLayout: ASSUMED[channels - 1]!, speakers: NAMED[LIKELY[channels - 1]!]!.split('+') }
  }
  return { channelLayout: custom ?? name!, speakers }
}
