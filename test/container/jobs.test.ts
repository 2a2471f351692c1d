import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { ffmpeg, lavfi, makeAudio, noise } from '../support/audio.ts'
import { childrenOf, encoderOf } from './processes.ts'
import { collect, eventsOf, JSON_BODY, newJob, post, type Service, startService, succeed } from './service.ts'
import { setStage, SLOW, type Stage } from './stage.ts'

let service: Service
let stage: Stage
let audio: Buffer

beforeAll(async () => {
  ;[audio, service] = await Promise.all([makeAudio('mp3', { seconds: 5, expression: noise }), startService()])
})
afterAll(() => service?.stop())

beforeEach(async () => {
  stage = await setStage(audio)
})
afterEach(() => stage.strike())

const health = async (running: Service) => (await fetch(`${running.url}/health`)).json()
const counts = (running: number, queued: number) =>
  vi.waitFor(async () => expect(await health(service)).toMatchObject({ running, queued }), { timeout: 10_000 })

describe('attaching', () => {
  it('a second consumer joins a running job and both get the result', async () => {
    const { job, go } = stage.heldJob()
    const first = await post(service, job, job.job_id)
    const second = await post(service, job, job.job_id)
    expect(await health(service)).toMatchObject({ ok: true, running: 1, queued: 0 })
    go()
    const [one, two] = await Promise.all([collect(first), collect(second)])
    expect(one.result).toBeDefined()
    expect(two.result).toEqual(one.result)
    expect(stage.storage.requests.filter((request) => request.method === 'GET')).toHaveLength(1)
  })

  it('a job goes on without its consumer, and its result is replayed', async () => {
    const { job, go } = stage.heldJob()
    const consumer = new AbortController()
    await post(service, job, job.job_id, consumer.signal)
    consumer.abort()
    go()
    await counts(0, 0)
    const before = stage.storage.requests.length
    const { result, events } = await collect(await post(service, job, job.job_id))
    expect(result?.variants).toHaveLength(3)
    expect(events.at(-1)?.type).toBe('result')
    expect(stage.storage.requests).toHaveLength(before)
  })

  it('tells the one who comes late how far it is and that it fell back', async () => {
    const slow = await stage.start(
      await stage.fakeFfmpeg(
        'case "$*" in *-xerror*) exit 1;; *filter_complex*) exec "$REAL" -re "$@";; esac; exec "$REAL" "$@"',
      ),
    )
    const job = stage.newLightJob()
    const first = await post(slow, job, job.job_id)
    for await (const event of eventsOf(first)) if (event.type === 'progress' && event.fraction > 0.3) break
    const late = await collect(await post(slow, job, job.job_id))
    const types = late.events.map((event) => event.type).filter((type) => type !== 'ping')
    expect(types.slice(0, 2)).toEqual(['fallback', 'progress'])
    expect(late.result).toBeDefined()
  })

  it('a job that failed starts anew', async () => {
    const job = stage.newLightJob()
    stage.storage.refuse(`${job.job_id}/mp3-128`, 403)
    expect((await collect(await post(service, job, job.job_id))).error?.code).toBe('upload_failed')
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
  })
})

describe('the queue', () => {
  it('holds four jobs beside the running one and refuses the sixth', async () => {
    const held = Array.from({ length: 6 }, () => stage.heldJob())
    const streams: Response[] = []
    for (const { job } of held.slice(0, 5)) streams.push(await post(service, job, job.job_id))
    expect(await health(service)).toMatchObject({ running: 1, queued: 4 })
    const refused = await post(service, held[5]!.job, held[5]!.job.job_id)
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ ok: false, code: 'busy' })
    for (const { go } of held) go()
    for (const stream of streams) expect((await collect(stream)).result).toBeDefined()
  })

  it('lets go of a cancelled job, waiting or running', async () => {
    const [running, waiting] = [stage.heldJob(), stage.heldJob()]
    const streams = [
      await post(service, running.job, running.job.job_id),
      await post(service, waiting.job, waiting.job.job_id),
    ]
    for (const { job } of [waiting, running]) {
      const answer = await fetch(`${service.url}/jobs/${job.job_id}`, { method: 'DELETE' })
      expect(answer.status).toBe(200)
    }
    for (const stream of streams)
      expect((await collect(stream)).error).toMatchObject({ code: 'cancelled', retryable: true })
    await counts(0, 0)
    expect(await service.leftovers()).toEqual([])
    const gone = await fetch(`${service.url}/jobs/${running.job.job_id}`, { method: 'DELETE' })
    expect(gone.status).toBe(404)
  })
})

describe('ffmpeg', () => {
  it.each(['SIGKILL', 'SIGSEGV'] as const)(
    'hit by %s in the strict pass is followed by the tolerant one',
    async (signal) => {
      const slow = await stage.start(await stage.fakeFfmpeg(SLOW))
      const job = stage.newLightJob()
      const stream = await post(slow, job, job.job_id)
      process.kill(await encoderOf(slow), signal)
      const { result, fallback } = await collect(stream)
      expect(fallback).toBe('The strict pass crashed.')
      expect(Math.abs(result!.duration - 5)).toBeLessThan(0.05)
      expect(await slow.leftovers()).toEqual([])
    },
  )

  it.each(['KILL', 'SEGV'])('hit by SIG%s in every pass is a failure that may be tried again', async (signal) => {
    const doomed = await stage.start(
      await stage.fakeFfmpeg(`case "$*" in *filter_complex*) kill -${signal} $$;; esac; exec "$REAL" "$@"`),
    )
    const job = stage.newLightJob()
    const { error, fallback } = await collect(await post(doomed, job, job.job_id))
    expect(fallback).toBe('The strict pass crashed.')
    expect(error).toEqual({ code: 'internal', message: 'The decoder was killed.', retryable: true })
    expect(await childrenOf(doomed.pid, /./)).toEqual([])
    expect(await doomed.leftovers()).toEqual([])
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
  })

  it('that hangs in both passes ends in timed_out, and nothing of it stays', async () => {
    const hung = await stage.start({
      ...(await stage.fakeFfmpeg('case "$*" in *filter_complex*) sleep 1000;; esac; exec "$REAL" "$@"')),
      FFMPEG_TIMEOUT: '0.3',
    })
    const job = stage.newLightJob()
    const { error, fallback } = await collect(await post(hung, job, job.job_id))
    expect(fallback).toBe('The strict pass took too long.')
    expect(error).toMatchObject({ code: 'timed_out' })
    expect(await childrenOf(hung.pid, /./)).toEqual([])
    expect(await hung.leftovers()).toEqual([])
  })

  it('without libspeex says of Speex that it cannot be decoded here, not that it is damaged', async () => {
    const without = await stage.start(
      await stage.fakeFfmpeg(
        'for a; do shift; [ "$a" = libspeex ] && a=libnone; set -- "$@" "$a"; done; exec "$REAL" "$@"',
      ),
    )
    const speex = await ffmpeg([...lavfi({ seconds: 1, rate: 16000, channels: 1 }), '-c:a', 'libspeex', '-f', 'ogg'])
    const job = newJob(stage.storage, stage.storage.serve('speex', speex))
    for (const pass of ['strict', 'tolerant'] as const) {
      const { error, fallback } = await collect(await post(without, { ...job, pass }, job.job_id))
      const message = 'Audio encoded as speex cannot be decoded here.'
      expect([fallback, error]).toEqual([undefined, { code: 'unsupported_format', message, retryable: false }])
    }
  })

  it('whose blame is unclear is run once for every variant, and the good ones are kept', async () => {
    const broken = await stage.start(
      await stage.fakeFfmpeg('case "$*" in *filter_complex*libopus*) exit 1;; esac; exec "$REAL" "$@"'),
    )
    const job = newJob(stage.storage, stage.storage.serve('unclear', audio))
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

describe('what a file says of itself', () => {
  const EVIL = '$(touch /tmp/evil)\n{"event":"evil"}\u001b[2J'

  it('reaches neither a command line nor a log', async () => {
    // In the one directory that ffmpeg may write to.
    const workDir = await mkdtemp(join(stage.scratch, 'work-'))
    const arguments_ = join(workDir, 'arguments')
    await writeFile(arguments_, '')
    await chmod(arguments_, 0o666)
    const fake = await stage.fakeFfmpeg(`printf '%s\\n' "$@" >> "${arguments_}"; exec "$REAL" "$@"`)
    const recording = await stage.start({ ...fake, WORK_DIR: workDir })
    const tagged = await makeAudio('flac', { seconds: 1 }, ['-metadata', `title=${EVIL}`])
    const damaged = tagged.subarray(0, tagged.length - 2000)
    for (const [bytes, name] of [
      [tagged, 'evil";`id`.m3u8'],
      [damaged, "evil' -i file:///etc/passwd"],
    ] as const) {
      const job = newJob(stage.storage, stage.storage.serve(encodeURIComponent(name), bytes))
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

describe('requests', () => {
  it('need the secret, except for health', async () => {
    const secret = `s-${Math.random()}`
    const guarded = await stage.start({ TRANSCODER_SECRET: secret })
    const job = stage.newLightJob()
    expect((await fetch(`${guarded.url}/health`)).status).toBe(200)
    expect((await post(guarded, job, job.job_id)).status).toBe(401)
    const ask = (authorization: string) =>
      fetch(`${guarded.url}/jobs/${job.job_id}`, {
        method: 'POST',
        body: JSON.stringify(job),
        headers: { ...JSON_BODY, authorization },
      })
    expect((await ask('Bearer wrong')).status).toBe(401)
    expect((await collect(await ask(`Bearer ${secret}`))).result).toBeDefined()
    expect(JSON.stringify(guarded.logs)).not.toContain(secret)
    expect(JSON.stringify(guarded.logs)).not.toContain('http')
  })

  it('that are no jobs are refused with a reason', async () => {
    const job = stage.newLightJob()
    const other = stage.newLightJob()
    const hostile = ['file:///etc/passwd', 'data:audio/wav;base64,AAAA', 'ftp://127.0.0.1/x', 'no url']
    const squares = { icon: job.source.url, small: job.source.url, regular: job.source.url }
    const bodies = [
      undefined,
      {},
      { ...job, version: 2 },
      other,
      ...hostile.map((url) => ({ ...job, source: { url, size: 1 } })),
      ...hostile.map((url) => ({ ...job, variants: [{ ...job.variants[0], url }] })),
      ...hostile.map((url) => ({ ...job, cover: { ...squares, icon: url } })),
      ...hostile.map((url) => ({ ...job, early: { url, from_duration: 0 } })),
      ...['../x', 'a/b', '-x;y', 'x.y', ''].map((index) => ({ ...job, variants: [{ ...job.variants[0], index }] })),
      { ...job, variants: [job.variants[0], job.variants[0]] },
    ]
    for (const body of bodies) {
      const answer = await post(service, body, job.job_id)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ ok: false, code: 'invalid', message: expect.any(String) })
    }
    const huge = await post(service, { ...job, padding: 'x'.repeat(1024 * 1024) }, job.job_id)
    expect(huge.status).toBe(413)
    expect((await fetch(`${service.url}/elsewhere`)).status).toBe(404)
  })
})
