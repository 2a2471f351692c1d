import type { ComponentChildren } from 'preact'

import type { TrackInfo } from '../../contract/info.ts'
import type { Track } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { useQuery } from '../data/query.ts'
import { bytes, clock, infoOf, signed } from '../format.ts'
import { Copyable } from '../ui/copyable.tsx'
import { Loading, Problem } from '../ui/states.tsx'
import { formatOf } from '../variants/variant.ts'

type Fact = readonly [term: string, value: ComponentChildren]

/** The details of a track: loudness, source, variants, warnings and errors. */
export function TrackDetails({ track }: { track: Track }) {
  const info = infoOf(track)
  const problems = [
    ...(info.error ? [info.error.message] : []),
    ...(info.failed_variants ?? []).map(({ index, message }) => `${index}: ${message}`),
    ...(info.warnings ?? []).map(({ message }) => message),
  ]
  return (
    <div class="details">
      {problems.length > 0 && (
        <section class="card warnings" aria-labelledby="problems-title">
          <h2 id="problems-title">{info.error ? 'Errors' : 'Warnings'}</h2>
          <ul>
            {problems.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <div class="column">
        <Files track={track} skipped={info.skipped_variants ?? []} />
        {Object.keys(info.tags ?? {}).length > 0 && <Facts title="Tags" facts={Object.entries(info.tags ?? {})} />}
      </div>
      <div class="column">
        <Facts title="Loudness" facts={loudnessOf(info)} />
        <Facts title="Source" facts={sourceOf(track, info)} />
      </div>
      <section class="card codes" aria-labelledby="developers-title">
        <h2 id="developers-title">For developers</h2>
        <Copyable label="Track" value={track.id} />
        <Copyable label="Collection" value={track.collection_id} />
        <Copyable
          label="Try it"
          value={`curl -H "Authorization: Bearer $KEY" ${location.origin}/v1/track/${track.id}`}
        />
      </section>
    </div>
  )
}

function loudnessOf({ loudness }: TrackInfo): Fact[] {
  const show = (value: number | null | undefined, unit: string) =>
    typeof value === 'number' ? signed(value, unit) : '–'
  return [
    ['Integrated', show(loudness?.integrated_lufs, 'LUFS')],
    ['Range', show(loudness?.loudness_range, 'LU')],
    ['True peak', show(loudness?.true_peak_dbtp, 'dBTP')],
    ['ReplayGain', show(loudness?.replaygain_track_gain, 'dB')],
  ]
}

function sourceOf(track: Track, info: TrackInfo): Fact[] {
  const known: [string, string | false | undefined][] = [
    ['File', track.file_name],
    ['Duration', track.duration > 0 && clock(track.duration)],
    ['Codec', info.codec && `${info.codec}${info.lossless ? ', lossless' : ''}`],
    ['Container', info.container],
    ['Sample rate', info.sample_rate !== undefined && `${info.sample_rate / 1000} kHz`],
    [
      'Channels',
      info.channels !== undefined && `${info.channels}${info.channel_layout ? `, ${info.channel_layout}` : ''}`,
    ],
    ['Bit depth', info.bit_depth ? `${info.bit_depth} bit` : false],
    ['Bitrate', info.bitrate ? `${Math.round(info.bitrate)} kbit/s` : false],
    ['Size', info.size !== undefined && bytes(info.size)],
    ['Replaced uploads', info.replaced_uploads?.map(({ file_name }) => file_name).join(', ')],
  ]
  return known.flatMap(([term, value]) => (value ? [[term, value] as const] : []))
}

const Facts = ({ title, facts }: { title: string; facts: readonly Fact[] }) => (
  <section class="card facts" aria-label={title}>
    <h2>{title}</h2>
    <dl>
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </section>
)

function Files({ track, skipped }: { track: Track; skipped: { index: string; reason: string }[] }) {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['/v1/track/{track_id}/variant', track.id],
    version: track.status,
    load: () => client.get('/v1/track/{track_id}/variant', { params: { track_id: track.id } }),
  })
  const { entries: catalogue } = useList('/v1/variant', ({ variants }) => variants)
  const find = (index: string) => catalogue.find((variant) => variant.index === index)
  return (
    <section class="card files" aria-labelledby="files-title">
      <h2 id="files-title">Variants</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading />}
      {answer?.variants.length === 0 && <p class="soft">No files yet.</p>}
      {answer && answer.variants.length > 0 && (
        <div class="table-box">
          <table class="stacked">
            <thead>
              <tr>
                <th>Variant</th>
                <th>Format</th>
                <th class="number">This file’s bitrate</th>
                <th class="number">Size</th>
              </tr>
            </thead>
            <tbody>
              {answer.variants.map(({ index, bitrate, size }) => (
                <tr key={index}>
                  <th scope="row">
                    {find(index)?.name ?? index} <code class="soft">{index}</code>
                  </th>
                  <td data-label="Format">{formatOf(find(index)?.format)}</td>
                  <td data-label="This file’s bitrate" class="number">
                    {bitrate > 0 ? `${bitrate} kbit/s` : '–'}
                  </td>
                  <td data-label="Size" class="number">
                    {bytes(size)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {skipped.map(({ index, reason }) => (
        <p key={index} class="hint">
          {find(index)?.name ?? index} was not made: {reason}
        </p>
      ))}
    </section>
  )
}
