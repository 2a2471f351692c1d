import { setTimeout as sleep } from 'node:timers/promises'

import type { JobEvent, TranscodeJob } from '../../src/contract/job.ts'
import { listen } from './meter.ts'

/** Milliseconds between two progress events, as in container/audio/progress.ts. */
const PROGRESS_EVERY = 500
/** Milliseconds until the early file of a song is uploaded (docs/speed.md). */
const EARLY_AT = 500

/**
 * Starts a fake transcoder. It waits for the configured time, reports progress and an early file as the real transcoder does, and then
 * reports that it produced all variants. Its clock runs `times` times as fast as real time, like the clock of the counted Worker.
 */
export async function startTranscoder(times: number) {
  const work = { seconds: 0 }
  /** Numbers of objects that the real transcoder would have written to the bucket, and of sources that it would have read. */
  const made = { files: 0, sources: 0 }
  const url = await listen(async (_request, body, response) => {
    const job = JSON.parse(body.toString()) as TranscodeJob
    const send = (event: JobEvent) => response.write(`${JSON.stringify(event)}\n`)
    const startedAt = performance.now()
    const elapsed = () => (performance.now() - startedAt) * times
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const hasEarly = job.early !== null && DURATION >= job.early.from_duration
    for (let at = 0; at < work.seconds * 1000; at += PROGRESS_EVERY) {
      if (hasEarly && at === EARLY_AT)
        send({ type: 'early', file: { index: 'early', size: 28_000_000, bitrate: 914, duration: DURATION } })
      send({ type: 'progress', fraction: at / (work.seconds * 1000) })
      await sleep(Math.max(0, (at + PROGRESS_EVERY - elapsed()) / times))
    }
    made.sources++
    made.files += job.variants.length + Object.keys(job.cover ?? {}).length + Number(hasEarly)
    send(result(job))
    response.end()
  })
  return { url, work, made }
}

const DURATION = 241.5

const result = (job: TranscodeJob): JobEvent => ({
  type: 'result',
  result: {
    duration: DURATION,
    levels: Array.from({ length: 320 }, (_, at) => Math.round(500 + 499 * Math.sin(at)) / 1000),
    info: { codec: 'flac', sample_rate: 44100, channels: 2, bit_depth: 16, bitrate: 914 },
    tags: { title: 'So What', artist: 'Miles Davis', album: 'Kind of Blue', track_number: 1 },
    warnings: [],
    variants: job.variants.map(({ index }) => ({ index, size: 4_000_000, bitrate: 128, duration: DURATION })),
    skipped: [],
    failed: [],
    cover: job.cover && {
      image_colors: [
        { hex: '#AA3300', area: 0.75, lightness: 0.33, saturation: 1 },
        { hex: '#113355', area: 0.25, lightness: 0.2, saturation: 0.7 },
      ],
    },
  },
})
