import type { Warning } from '../../src/contract/info.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { DAMAGED_SOURCE, type EncodeResult } from './encode.ts'
import { integratedOf } from './measure/loudness.ts'
import type { Source } from './source/probe.ts'

/** Maximum error of the duration in the header that causes no warning, in seconds and as a fraction of the duration. */
const TOLERANCE = { seconds: 0.5, share: 0.02 }

/** Returns warnings for a source that could not be decoded without losses: audio is missing, or parts of it may sound wrong. */
export function decodeWarnings(source: Source, sniffed: Sniffed, encoded: EncodeResult): Warning[] {
  const decoded = encoded.pcm.frames / source.sampleRate
  const warnings: Warning[] = [lossWarning(source, sniffed, encoded, decoded)].filter((warning) => warning !== null)
  if (integratedOf(encoded.stderr).filter((lufs) => lufs > -70).length > 1) {
    const message = 'The format changes within the file, so the loudness is that of its last part.'
    warnings.push({ code: 'format_changed', message })
  }
  return warnings
}

function lossWarning(source: Source, sniffed: Sniffed, encoded: EncodeResult, decoded: number): Warning | null {
  const stated = source.hasOwnDuration ? source.duration : null
  const missing = stated === null ? 0 : stated - decoded
  const isNoticeable = Math.abs(missing) > Math.max(TOLERANCE.seconds, decoded * TOLERANCE.share)
  const playable = stated === null ? `${decoded.toFixed(1)} s` : `${decoded.toFixed(1)} of ${stated.toFixed(1)} s`
  if (sniffed.truncated) {
    return {
      code: 'truncated',
      message: `The file ends before the end that its header promises; it plays ${playable}.`,
    }
  }
  if (isDamaged(sniffed, encoded)) {
    const whole = stated === null ? 'parts of it may be missing or' : 'it plays whole, but parts of it may'
    const effect = missing > 0 && isNoticeable ? `${playable} could be decoded` : `${whole} sound wrong`
    return { code: 'damaged', message: `The file is damaged: ${effect}.` }
  }
  if (encoded.fallback !== null) return { code: 'second_pass', message: `${encoded.fallback} A second one succeeded.` }
  if (!isNoticeable) return null
  // ffmpeg reports success for many truncated files. Only the duration in the header shows that audio is missing.
  const message = `The header says ${stated!.toFixed(1)} s, but ${decoded.toFixed(1)} s could be decoded.`
  return { code: 'duration_mismatch', message }
}

// Indented lines do not match, because they contain the source's tags.
const DECODER_COMPLAINS =
  /^\S.*(?:rror while decoding|rror submitting (?:a )?packet to (?:the )?decoder|Decoding error:)|^Error while decoding/m

// A WAV of unknown length does not count as damaged: it always ends before the length in its header, although it is complete.
function isDamaged(sniffed: Sniffed, { pass, fallback, stderr }: EncodeResult): boolean {
  if (fallback === DAMAGED_SOURCE) return true
  return pass === 'tolerant' && !sniffed.streamed && DECODER_COMPLAINS.test(stderr)
}
