import { SlotTooSmall } from '../job_error.ts'
import type { Source } from './source/probe.ts'

/** The samples per second of stereo at 48 kHz. Sources with more samples take longer to decode, so their seconds count more than once. */
const NORMAL_RATE = 2 * 48_000

export type SlotLimit = ReturnType<typeof createSlotLimit>

/** Limits the audio of a source to `maxSeconds` seconds of stereo at 48 kHz, which is what the job's slot is for. */
export function createSlotLimit({ sampleRate, channels }: Source, maxSeconds: number) {
  const factor = Math.max(1, (sampleRate * channels) / NORMAL_RATE)
  const isExceeded = (seconds: number) => seconds * factor > maxSeconds
  return {
    isExceeded,
    /** Throws if the audio is too long for the slot. */
    check(seconds: number): void {
      if (isExceeded(seconds)) throw new SlotTooSmall(seconds * factor)
    },
  }
}
