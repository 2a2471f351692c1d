import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { ffmpeg, lavfi, makeAudio, noise } from '../support/audio.ts'
import { childrenOf, encoderOf } from './processes.ts'
import { collect, lightVariants, newJob, post, type Service, succeed } from './service.ts'
import { createWorkspace, SLOW, type Workspace } from './workspace.ts'

/** Jobs whose ffmpeg crashes, hangs, lacks a codec, or is killed. */

let service: Service
let workspace: Workspace
let audio: Buffer

beforeAll(async () => {
  audio = await makeAudio('mp3', { seconds: 5, expression: noise })
})

beforeEach(async () => {
  workspace = await createWorkspace(audio)
  service = await workspace.start()
})

afterEach(() => workspace.dispose())

describe('ffmpeg', () => {
  it('runs the tolerant pass after a crash in the strict one', async () => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(SLOW))
    const job = workspace.newLightJob()
    const stream = await post(slow, job, job.job_id)
    process.kill(await encoderOf(slow), 'SIGSEGV')
    const { result, fallback } = await collect(stream)
    expect(fallback).toBe('The strict pass crashed.')
    expect(Math.abs(result!.duration - 5)).toBeLessThan(0.05)
    expect(await slow.leftovers()).toEqual([])
  })

  it('causes a retryable error if it crashes in every pass', async () => {
    const doomed = await workspace.start(
      await workspace.fakeFfmpeg('case "$*" in *filter_complex*) kill -SEGV $$;; esac; exec "$REAL" "$@"'),
    )
    const job = workspace.newLightJob()
    const { error, fallback } = await collect(await post(doomed, job, job.job_id))
    expect(fallback).toBe('The strict pass crashed.')
    expect(error).toEqual({ code: 'internal', message: 'The decoder crashed.', retryable: true })
    expect(await childrenOf(doomed.pid, /./)).toEqual([])
    expect(await doomed.leftovers()).toEqual([])
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)('that is killed with %s causes a retryable error', async (signal) => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(SLOW))
    const job = workspace.newLightJob()
    const stream = await post(slow, job, job.job_id)
    process.kill(await encoderOf(slow), signal)
    const { error, fallback } = await collect(stream)
    expect([error?.code, error?.retryable, fallback]).toEqual(['killed', true, undefined])
    expect(await slow.leftovers()).toEqual([])
    const { result } = await succeed(service, job)
    expect([result.warnings, result.info.pass]).toEqual([[], 'strict'])
  })

  it('is stopped and reported as timed_out if it hangs in both passes, and leaves nothing behind', async () => {
    const hung = await workspace.start({
      ...(await workspace.fakeFfmpeg('case "$*" in *filter_complex*) sleep 1000;; esac; exec "$REAL" "$@"')),
      FFMPEG_TIMEOUT: '0.3',
    })
    const job = workspace.newLightJob()
    const { error, fallback } = await collect(await post(hung, job, job.job_id))
    expect(fallback).toBe('The strict pass took too long.')
    expect(error).toMatchObject({ code: 'timed_out' })
    expect(await childrenOf(hung.pid, /./)).toEqual([])
    expect(await hung.leftovers()).toEqual([])
  })

  it('causes a Speex file to be reported as unsupported, and not as damaged, if it lacks libspeex', async () => {
    const without = await workspace.start(
      await workspace.fakeFfmpeg(
        'for a; do shift; [ "$a" = libspeex ] && a=libnone; set -- "$@" "$a"; done; exec "$REAL" "$@"',
      ),
    )
    const speex = await ffmpeg([...lavfi({ seconds: 1, rate: 16000, channels: 1 }), '-c:a', 'libspeex', '-f', 'ogg'])
    const job = newJob(workspace.storage, workspace.storage.serve('speex', speex))
    for (const pass of ['strict', 'tolerant'] as const) {
      const { error, fallback } = await collect(await post(without, { ...job, pass }, job.job_id))
      const message = 'Audio encoded as speex cannot be decoded here.'
      expect([fallback, error]).toEqual([undefined, { code: 'unsupported_format', message, retryable: false }])
    }
  })

  it('decodes Opus with its own decoder if it lacks libopus', async () => {
    const without = await workspace.start(
      await workspace.fakeFfmpeg(
        'for a; do shift; [ "$a" = libopus ] && a=libnone; set -- "$@" "$a"; done; exec "$REAL" "$@"',
      ),
    )
    const opus = await makeAudio('opus', { seconds: 1 })
    const job = newJob(workspace.storage, workspace.storage.serve('opus', opus))
    job.variants = lightVariants(workspace.storage, job.job_id)
    const { result, fallback } = await succeed(without, job)
    expect([fallback, result.failed, result.warnings]).toEqual([undefined, [], []])
    expect(result.duration).toBeCloseTo(1, 2)
  })

  it('runs once per variant if it is unknown which variant failed, and the variants that succeed are kept', async () => {
    const broken = await workspace.start(
      await workspace.fakeFfmpeg('case "$*" in *filter_complex*libopus*) exit 1;; esac; exec "$REAL" "$@"'),
    )
    const job = newJob(workspace.storage, workspace.storage.serve('unclear', audio))
    const { result, fallback } = await succeed(broken, job)
    expect(fallback).toBeDefined()
    expect(result.failed).toMatchObject([{ index: 'opus-96' }])
    expect(result.variants.map((variant) => variant.index)).toEqual([
      'aac-160',
      'mp3-128',
      'preview',
      'waveform',
      'analysis',
    ])
  })
})

it('an ffmpeg of another decade is reported with its year, and a current one is not', async () => {
  const year = new Date().getFullYear()
  for (const [built, isOld] of [
    [2018, true],
    [year, false],
  ] as const) {
    const banner = `ffmpeg version N-1-g0 Copyright (c) 2000-${built} the FFmpeg developers`
    const fake = await workspace.fakeFfmpeg(`[ "$1" != -version ] || exec echo '${banner}'; exec "$REAL" "$@"`)
    const { url, logs } = await workspace.start(fake)
    const health = (await (await fetch(`${url}/health`)).json()) as object
    expect(health).toMatchObject({ ffmpeg: 'N-1-g0', ffmpeg_year: built })
    const warning = logs.find(({ event }) => event === 'old_ffmpeg')?.message
    if (isOld) expect(warning).toMatch(/^This ffmpeg is from 2018, .*apt install ffmpeg, .*FFMPEG_PATH/)
    else expect(warning).toBeUndefined()
  }
})

describe('the metadata and the name of a file', () => {
  const EVIL = '$(touch /tmp/evil)\n{"event":"evil"}\u001b[2J'

  it('reach neither a command line nor a log', async () => {
    // The arguments are written to the work directory, because ffmpeg may write nowhere else.
    const workDir = await mkdtemp(join(workspace.scratch, 'work-'))
    const arguments_ = join(workDir, 'arguments')
    await writeFile(arguments_, '')
    await chmod(arguments_, 0o666)
    const fake = await workspace.fakeFfmpeg(`printf '%s\\n' "$@" >> "${arguments_}"; exec "$REAL" "$@"`)
    const recording = await workspace.start({ ...fake, WORK_DIR: workDir })
    const tagged = await makeAudio('flac', { seconds: 1 }, ['-metadata', `title=${EVIL}`])
    const damaged = tagged.subarray(0, tagged.length - 2000)
    for (const [bytes, name] of [
      [tagged, 'evil";`id`.m3u8'],
      [damaged, "evil' -i file:///etc/passwd"],
    ] as const) {
      const job = newJob(workspace.storage, workspace.storage.serve(encodeURIComponent(name), bytes))
      const { info } = (await succeed(recording, job)).result
      expect(info.tags).toMatchObject({ title: EVIL })
    }
    expect(await readFile(arguments_, 'utf8')).toContain('file:src')
    for (const text of [await readFile(arguments_, 'utf8'), JSON.stringify(recording.logs)]) {
      expect(text).not.toContain('evil')
      expect(text).not.toContain('http')
    }
  })
})
