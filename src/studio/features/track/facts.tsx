import type { TrackInfo } from '../../../contract/info.ts'
import type { Track } from '../../base/api.ts'
import { bytes, formatClock, joined, listText, number, signed } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { infoOf } from '../../data/track_text.ts'
import { loudnessNote, TARGET } from './loudness.ts'
import { Scale } from './scale.tsx'

/** The ends of both scales. */
const LUFS = [-32, -4] as const
const DBTP = [-24, 4] as const

const fraction = (value: number, [low, high]: readonly [number, number]) => (value - low) / (high - low)

/** The loudness of a track on scales, and the format of its source. */
export function Facts({ track }: { track: Track }) {
  const info = infoOf(track)
  const rest = factsOf(track, info)
  if (!info.loudness && rest.length === 0) return null
  return (
    <section class="part" aria-labelledby="facts-title">
      <h2 id="facts-title">{t('Sound')}</h2>
      <dl class="facts">
        <Loudness info={info} />
        {rest.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Loudness({ info: { loudness } }: { info: TrackInfo }) {
  const { integrated_lufs, true_peak_dbtp, is_silent } = loudness ?? {}
  if (is_silent) {
    return (
      <div>
        <dt>{t('Loudness')}</dt>
        <dd>{t('Silent')}</dd>
      </div>
    )
  }
  return (
    <>
      {typeof integrated_lufs === 'number' && (
        <Scale
          label={t('Loudness')}
          value={signed(integrated_lufs, 'LUFS')}
          note={loudnessNote(integrated_lufs)}
          at={fraction(integrated_lufs, LUFS)}
          reference={fraction(TARGET, LUFS)}
          referenceText="−14"
        />
      )}
      {typeof true_peak_dbtp === 'number' && (
        <Scale
          label={t('True peak')}
          value={signed(true_peak_dbtp, 'dBTP')}
          note={peakNote(true_peak_dbtp)}
          at={fraction(true_peak_dbtp, DBTP)}
          reference={fraction(0, DBTP)}
          referenceText="0"
          isBad={true_peak_dbtp > 0}
        />
      )}
    </>
  )
}

function peakNote(dbtp: number): string {
  if (dbtp > 0) return t('Above full scale, so it may be distorted')
  if (dbtp > -0.05) return t('At full scale')
  return t('{n} below full scale', { n: signed(Math.abs(dbtp), 'dB') })
}

/** Returns what is known about the source: terms with their values. */
function factsOf(track: Track, info: TrackInfo): [term: string, value: string][] {
  const { loudness, silence } = info
  const range = loudness?.loudness_range
  const gain = loudness?.replaygain_track_gain
  const format = [
    info.codec?.toUpperCase(),
    info.lossless && t('lossless'),
    info.bitrate && t('{n} kbit/s', { n: Math.round(info.bitrate) }),
    info.bit_depth && t('{n} bit', { n: info.bit_depth }),
  ]
  const signal = [info.sample_rate && t('{n} kHz', { n: number(info.sample_rate / 1000) }), info.channel_layout]
  const file = [track.file_name, info.size && bytes(info.size)]
  const known: [string, string | false | undefined][] = [
    [t('Loudness range'), typeof range === 'number' && signed(range, 'LU')],
    [t('ReplayGain'), typeof gain === 'number' && signed(gain, 'dB')],
    [t('Length'), track.duration > 0 && formatClock(track.duration)],
    [t('Silence'), silence && silenceText(silence)],
    [t('Source'), joined(format)],
    [t('Signal'), joined(signal)],
    [t('File'), joined(file)],
    [t('Replaced uploads'), info.replaced_uploads && listText(info.replaced_uploads.map(({ file_name }) => file_name))],
  ]
  return known.filter((entry): entry is [string, string] => Boolean(entry[1]))
}

function silenceText({ start, end }: { start: number; end: number }): string {
  const [before, after] = [start, end].map((seconds) => t('{n} s', { n: number(Number(seconds.toFixed(1))) }))
  return t('{before} at the start, {after} at the end', { before: before!, after: after! })
}
