import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import type { JobEvent, TranscodeJob } from '../../src/contract/job.ts'
import { corrupt, decode, ffmpeg, lavfi, makeAudio, makeImage, probeAudio, withCover } from '../support/audio.ts'
import { movieTimes } from '../support/containers.ts'
import { catalogue, collect, eventsOf, newJob, post } from './service.ts'
import { shareService } from './shared.ts'
import { createWorkspace } from './workspace.ts'

const { storage, service } = await shareService()

const signal = { seconds: 12 }

function longJob(source: Buffer, changes: Partial<TranscodeJob> = {}) {
  const job = newJob(storage, storage.serve(`source-${storage.requests.length}`, source))
  const early = { url: storage.url(`${job.job_id}/early`), from_duration: 10 }
  const variants = catalogue(storage, job.job_id).filter(({ index }) =>
    ['aac-160', 'lossless', 'analysis'].includes(index),
  )
  return { ...job, early, variants, ...changes }
}

/** Runs a job. `file` is the one in the `early` event, and `bytes` is what storage held when that event arrived. */
async function run(job: TranscodeJob) {
  const response = await post(service, job, job.job_id)
  const events: JobEvent[] = []
  let bytes: Buffer | undefined
  for await (const event of eventsOf(response)) {
    events.push(event)
    if (event.type === 'early') bytes = storage.files.get(`${job.job_id}/${event.file.index}`)
  }
  const end = events.at(-1)!
  if (end.type !== 'result') throw new Error(JSON.stringify(end))
  const file = events.find((event) => event.type === 'early')?.file ?? null
  return { result: end.result, file, bytes }
}

describe('a long source', () => {
  it.each(['mp3', 'm4a', 'flac'] as const)('in %s is uploaded early, unchanged but without tags', async (format) => {
    const tagged = await makeAudio(format, signal, ['-metadata', 'comment=Between us only'])
    const source = await withCover(format, tagged, await makeImage('jpeg'))
    expect(source.includes('Between us only')).toBe(true)
    const job = longJob(source)
    const { result, file, bytes } = await run(job)
    expect(file).toMatchObject({ index: 'early', size: bytes!.length })
    expect(Math.abs(file!.duration - 12)).toBeLessThan(0.1)
    expect(file!.bitrate).toBeGreaterThan(5)
    expect(bytes!.includes('Between us only')).toBe(false)
    expect((await probeAudio(bytes!)).codec).toBe({ mp3: 'mp3', m4a: 'aac', flac: 'flac' }[format])
    const [earlySamples, sourceSamples] = [await decode(bytes!), await decode(source)]
    expect(earlySamples.length).toBe(sourceSamples.length)
    expect(Buffer.from(earlySamples.buffer).equals(Buffer.from(sourceSamples.buffer))).toBe(true)
    if (format === 'm4a') {
      const frames = Math.round(signal.seconds * 44100)
      expect(movieTimes(bytes!)).toMatchObject({
        clock: 44100,
        length: frames,
        edits: [{ length: frames, from: 1024 }],
      })
    }
    expect(result.variants.map(({ index }) => index)).toEqual(
      format === 'flac' ? ['aac-160', 'lossless', 'analysis'] : ['aac-160', 'analysis'],
    )
  })

  it('gets an early file that, like its variants, starts with the sound even if the sound of a video starts late', async () => {
    const picture = ['-f', 'lavfi', '-i', 'color=s=64x64:r=1:d=14']
    const sound = ['-itsoffset', '2', ...lavfi(signal)]
    const { result, file, bytes } = await run(
      longJob(await ffmpeg([...picture, ...sound, '-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'mp4'])),
    )
    expect(file!.duration).toBe(result.duration)
    const { clock, edits } = movieTimes(bytes!)
    expect(edits).toEqual([{ length: expect.any(Number), from: 0 }])
    expect(edits[0]!.length / clock).toBeCloseTo(result.duration, 3)
  })

  it('gets its final FLAC as the early file if it is PCM, and that FLAC is uploaded first and only once', async () => {
    const source = await makeAudio('wav', signal)
    const job = longJob(source)
    const { result, file, bytes } = await run(job)
    expect(file).toMatchObject({ index: 'lossless', size: bytes!.length, duration: 12 })
    const puts = storage.requests.filter(
      ({ method, path }) => method === 'PUT' && path.includes(`${job.job_id}/lossless`),
    )
    expect(puts).toHaveLength(1)
    expect(result.variants.find(({ index }) => index === 'lossless')).toMatchObject({
      size: bytes!.length,
      duration: 12,
    })
    expect(Buffer.from((await decode(bytes!)).buffer).equals(Buffer.from((await decode(source)).buffer))).toBe(true)
  })

  it('still gets its final FLAC if the early upload of that FLAC is refused once', async () => {
    const job = longJob(await makeAudio('wav', signal))
    storage.refuse(`${job.job_id}/lossless`, 403)
    const { result, file } = await run(job)
    expect(file).toBeNull()
    expect(result.variants.map(({ index }) => index)).toContain('lossless')
    expect(result.failed).toEqual([])
  })

  it('can be played before encoding starts, even by a consumer that reconnects', async () => {
    const workspace = await createWorkspace(
      await withCover('mp3', await makeAudio('mp3', signal), await makeImage('jpeg')),
    )
    // The script waits for a file in the job's directory, because ffmpeg's user can see no other directory.
    const wait = `all="$*"
      case "$all" in *image2pipe*) cd "$(expr "$all" : '.*file:\\(.*\\)/src')";; esac
      case "$all" in *-filter_complex*|*image2pipe*) while [ ! -e go ]; do sleep 0.1; done;; esac
      exec "$REAL" "$@"`
    const slow = await workspace.start(await workspace.fakeFfmpeg(wait))
    const at = (name: string) => workspace.storage.url(name)
    const cover = { icon: at('icon'), small: at('small'), regular: at('regular') }
    const job = { ...workspace.newLightJob(), cover, early: { url: at('early'), from_duration: 10 } }
    try {
      for (let visit = 0; visit < 2; visit++) {
        const leaving = new AbortController()
        const seen: string[] = []
        for await (const event of eventsOf(await post(slow, job, job.job_id, leaving.signal))) {
          seen.push(event.type)
          if (event.type === 'early') break
        }
        leaving.abort()
        expect(seen).toContain('early')
        expect(seen).not.toContain('result')
        expect((await probeAudio(workspace.storage.files.get('early')!)).codec).toBe('mp3')
      }
      const [directory] = await slow.leftovers()
      await writeFile(join(slow.workDir, directory!, 'go'), '')
      const { result } = await collect(await post(slow, job, job.job_id))
      expect(result?.variants.map(({ index }) => index)).toContain('mp3-128')
      // The cover did not time out while the script waited.
      expect(result?.cover).not.toBeNull()
    } finally {
      await workspace.dispose()
    }
  })
})

describe('no early file is created', () => {
  it.each([
    ['for a short source', () => makeAudio('mp3', { seconds: 2 }), {}],
    ['when the job requests none', () => makeAudio('mp3', signal), { early: null }],
    ['in a tolerant job', () => makeAudio('mp3', signal), { pass: 'tolerant' as const }],
    ['for a codec that not every browser plays', () => makeAudio('ogg', signal), {}],
    [
      'for damaged PCM-like audio',
      async () => corrupt(await ffmpeg([...lavfi(signal), '-c:a', 'alac', '-f', 'ipod']), 30),
      {},
    ],
  ])('%s', async (_, make, changes) => {
    const { file } = await run(longJob(await make(), changes))
    expect(file).toBeNull()
  })
})
