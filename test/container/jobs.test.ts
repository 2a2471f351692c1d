import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { Refusal, type TranscodeJob, TranscoderHealth } from '../../src/contract/job.ts'
import { makeAudio, noise } from '../support/audio.ts'
import { encoderOf, isRunning } from './processes.ts'
import { collect, eventsOf, JSON_BODY, post, type Service, succeed } from './service.ts'
import { createWorkspace, SLOW, type Workspace } from './workspace.ts'

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

const health = async (running: Service) => (await fetch(`${running.url}/health`)).json()
const counts = (running: number, queued: number) =>
  vi.waitFor(async () => expect(await health(service)).toMatchObject({ running, queued }), { timeout: 10_000 })

describe('a job', () => {
  it('can be joined by a second consumer while it runs, and both consumers receive the result', async () => {
    const { job, go } = workspace.heldJob()
    const first = await post(service, job, job.job_id)
    const second = await post(service, job, job.job_id)
    expect(await health(service)).toMatchObject({ ok: true, running: 1, queued: 0 })
    go()
    const [firstOutcome, secondOutcome] = await Promise.all([collect(first), collect(second)])
    expect(firstOutcome.result).toBeDefined()
    expect(secondOutcome.result).toEqual(firstOutcome.result)
    expect(workspace.storage.requests.filter((request) => request.method === 'GET')).toHaveLength(1)
  })

  it('continues after its consumer has left, and its result is replayed to the next consumer', async () => {
    const { job, go } = workspace.heldJob()
    const consumer = new AbortController()
    await post(service, job, job.job_id, consumer.signal)
    consumer.abort()
    go()
    await counts(0, 0)
    const before = workspace.storage.requests.length
    const { result, events } = await collect(await post(service, job, job.job_id))
    expect(result?.variants).toHaveLength(3)
    expect(events.at(-1)?.type).toBe('result')
    expect(workspace.storage.requests).toHaveLength(before)
  })

  it('has its progress and its fallback replayed to a late consumer', async () => {
    const slow = await workspace.start(
      await workspace.fakeFfmpeg(
        'case "$*" in *-xerror*) exit 1;; *filter_complex*) exec "$REAL" -re "$@";; esac; exec "$REAL" "$@"',
      ),
    )
    const job = workspace.newLightJob()
    const first = await post(slow, job, job.job_id)
    for await (const event of eventsOf(first)) if (event.type === 'progress' && event.fraction > 0.3) break
    const late = await collect(await post(slow, job, job.job_id))
    const types = late.events.map((event) => event.type).filter((type) => type !== 'ping')
    expect(types.slice(0, 2)).toEqual(['fallback', 'progress'])
    expect(late.result).toBeDefined()
  })

  it('reports its failure to a late consumer, and restarts for the next consumer', async () => {
    const { job, go } = workspace.heldJob()
    workspace.storage.refuse(`${job.job_id}/mp3-128`, 403)
    const consumer = new AbortController()
    await post(service, job, job.job_id, consumer.signal)
    consumer.abort()
    go()
    await counts(0, 0)
    const sources = () => workspace.storage.requests.filter(({ method }) => method === 'GET').length
    expect((await collect(await post(service, job, job.job_id))).error?.code).toBe('upload_failed')
    expect(sources()).toBe(1)
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
    expect(sources()).toBe(2)
  })

  it('restarts if it is requested again after a failure', async () => {
    const job = workspace.newLightJob()
    workspace.storage.refuse(`${job.job_id}/mp3-128`, 403)
    expect((await collect(await post(service, job, job.job_id))).error?.code).toBe('upload_failed')
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
  })
})

describe('slots', () => {
  /** A job whose source has this declared size and whose download does not finish. */
  const sized = (size: number) => {
    const { job } = workspace.heldJob()
    return { ...job, source: { ...job.source, size } }
  }
  const start = (job: TranscodeJob) => post(service, job, job.job_id)
  const slots = async () => TranscoderHealth.parse(await health(service)).slots.map(({ is_free }) => is_free)

  it('run three short jobs at once; four more are queued, and the eighth is refused', async () => {
    const held = Array.from({ length: 8 }, () => workspace.heldJob())
    const streams: Response[] = []
    for (const { job } of held.slice(0, 7)) streams.push(await start(job))
    expect(await health(service)).toMatchObject({ stopping: false, running: 3, queued: 4 })
    expect(await slots()).toEqual([false, false, false])
    const refused = await start(held[7]!.job)
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Refusal.parse(await refused.json()).code).toBe('busy')
    for (const { go } of held) go()
    for (const stream of streams) expect((await collect(stream)).result).toBeDefined()
  })

  it('stay available to short jobs while long jobs wait for each other', async () => {
    for (let i = 0; i < 5; i++) await start(sized(50_000_000))
    expect(await health(service)).toMatchObject({ running: 1, queued: 4 })
    expect(await slots()).toEqual([false, true, true])
    expect((await start(sized(50_000_000))).status).toBe(503)
    for (const size of [5_000_000, 1_000_000]) expect((await start(sized(size))).status).toBe(200)
    expect(await slots()).toEqual([false, false, false])
    expect((await start(sized(1_000_000))).status).toBe(503)
  })

  it('become free for the next job in the queue', async () => {
    const [first, second] = [sized(50_000_000), sized(50_000_000)]
    await start(first)
    await start(second)
    await counts(1, 1)
    await fetch(`${service.url}/jobs/${first.job_id}`, { method: 'DELETE' })
    await counts(1, 0)
  })
})

describe('a canceled job', () => {
  const cancel = (running: Service, { job_id }: TranscodeJob) =>
    fetch(`${running.url}/jobs/${job_id}`, { method: 'DELETE' })

  it('has ended when the response arrives, and so has its ffmpeg', async () => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(SLOW))
    const job = workspace.newLightJob()
    const stream = await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    expect((await cancel(slow, job)).status).toBe(200)
    expect([await isRunning(encoder), await slow.leftovers()]).toEqual([false, []])
    expect(await health(slow)).toMatchObject({ running: 0 })
    expect((await collect(stream)).error).toMatchObject({ code: 'cancelled', retryable: true })
    expect((await cancel(slow, job)).status).toBe(404)
  })

  it('restarts if it is requested again immediately', async () => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(SLOW))
    const job = workspace.newLightJob()
    for (let time = 0; time < 3; time++) {
      await post(slow, job, job.job_id)
      await encoderOf(slow)
      await cancel(slow, job)
    }
  })

  it('never starts if it was waiting for a slot', async () => {
    const held = Array.from({ length: 4 }, () => workspace.heldJob())
    for (const { job } of held.slice(0, 3)) await post(service, job, job.job_id)
    const waiting = held[3]!.job
    const stream = await post(service, waiting, waiting.job_id)
    expect((await cancel(service, waiting)).status).toBe(200)
    expect((await collect(stream)).error).toMatchObject({ code: 'cancelled', retryable: true })
    await counts(3, 0)
  })

  it('is removed if it has already ended', async () => {
    const job = workspace.newLightJob()
    await succeed(service, job)
    expect((await cancel(service, job)).status).toBe(200)
    await succeed(service, job)
    expect(workspace.storage.requests.filter(({ method }) => method === 'GET')).toHaveLength(2)
  })
})

describe('requests', () => {
  it('require the secret, except those to /health, which then reveal nothing about the service', async () => {
    const secret = `s-${Math.random()}`
    const guarded = await workspace.start({ TRANSCODER_SECRET: secret })
    const job = workspace.newLightJob()
    const askHealth = async (authorization: string) =>
      (await fetch(`${guarded.url}/health`, { headers: { authorization } })).json()
    for (const authorization of ['', 'Bearer wrong']) expect(await askHealth(authorization)).toEqual({ ok: true })
    expect(await askHealth(`Bearer ${secret}`)).toMatchObject({ ok: true, running: 0, ffmpeg: expect.any(String) })
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

  it('are refused with a reason if they are not valid jobs', async () => {
    const job = workspace.newLightJob()
    const other = workspace.newLightJob()
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
