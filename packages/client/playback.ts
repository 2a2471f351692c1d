/** The entry point `@tonearm/client/playback`: the engine of the player (docs/decisions/0037). */
export { Playback } from '../../src/client/playback/playback.ts'
export { Heard } from '../../src/client/playback/heard.ts'
export type { Listen, Motion, Ranges, Report } from '../../src/client/playback/heard.ts'
export { isSounding, namesOf } from '../../src/client/playback/state.ts'
export type {
  Chapter,
  Loop,
  PlaybackCallbacks,
  PlaybackEvents,
  PlaybackOptions,
  PlayView,
  Session,
  SessionTrack,
  Source,
  StartOptions,
  State,
  Status,
} from '../../src/client/playback/state.ts'
