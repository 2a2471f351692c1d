import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { instanceOfSlot } from '../../../src/domain/transcode/slots.ts'
import { query } from '../support/api.ts'
import { aTenant, aTrackWithJob, deliver, eventually, untilUnfollowed } from '../support/fixtures.ts'
import { eventStream, openStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** The order of the queue, and the slots in which jobs run (docs/decisions/0033). */

const MB = 1_000_000
type Work = Awaited<ReturnType<typeof aTrackWithJob>>

/** A transcoder that records the order in which jobs start, and whose jobs run until the test ends them. */
function aSlowTranscoder() {
  const streams = new Map<string, ReturnType<typeof openStream>>()
  const { transcodes } = startTranscoder({
    transcode: ({ job_id }) => {
      const stream = openStream()
      streams.set(job_id, stream)
      return stream.response
    },
  })
  return {
    started: (jobs: Record<string, Work>) =>
      transcodes.map(({ job_id }) => Object.keys(jobs).find((name) => jobs[name]!.job_id === job_id)),
    async end(work: Work) {
      await eventually(async () => streams.has(work.job_id))
      streams.get(work.job_id)!.send(lossyResult())
      await eventually(async () => (await work.job()).state !== 'open')
    },
  }
}
const runQueue = (bindings: Env = env) => deliver('transcode', {}, { bindings })

describe('organizations', () => {
  it('take turns: many files of one organization do not delay a file of another', async () => {
    const [busy, other] = [await aTenant(), await aTenant()]
    const jobs: Record<string, Work> = {}
    for (let n = 1; n <= 4; n++) jobs[`mine ${n}`] = await aTrackWithJob({ tenant: busy, size: 30 * MB })
    jobs.theirs = await aTrackWithJob({ tenant: other, size: 30 * MB })
    const slow = aSlowTranscoder()
    await runQueue()
    await eventually(async () => slow.started(jobs).length === 1)
    for (const name of ['mine 1', 'theirs', 'mine 2', 'mine 3']) await slow.end(jobs[name]!)
    await eventually(async () => slow.started(jobs).length === 5)
    expect(slow.started(jobs)).toEqual(['mine 1', 'theirs', 'mine 2', 'mine 3', 'mine 4'])
    await slow.end(jobs['mine 4']!)
    await untilUnfollowed()
  })

  it('get their new files processed before the tracks of a reprocess', async () => {
    const tenant = await aTenant()
    const background = await aTrackWithJob({ tenant, size: 30 * MB })
    await query(`update jobs set is_background = 1, rank = rank + 86400000 where id = ?`, background.job_id)
    const fresh = await aTrackWithJob({ tenant, size: 30 * MB })
    const jobs = { background, fresh }
    const slow = aSlowTranscoder()
    await runQueue()
    await slow.end(fresh)
    await slow.end(background)
    expect(slow.started(jobs)).toEqual(['fresh', 'background'])
    await untilUnfollowed()
  })
})

describe('a short file', () => {
  it('is processed in parallel with a long file, and in parallel with many files of medium size', async () => {
    const [busy, other] = [await aTenant(), await aTenant()]
    const jobs: Record<string, Work> = { long: await aTrackWithJob({ tenant: busy, size: 600 * MB }) }
    for (let n = 1; n <= 3; n++) jobs[`middle ${n}`] = await aTrackWithJob({ tenant: busy, size: 10 * MB })
    const slow = aSlowTranscoder()
    await runQueue()
    await eventually(async () => slow.started(jobs).length === 2)
    expect(new Set(slow.started(jobs))).toEqual(new Set(['long', 'middle 1']))
    jobs.short = await aTrackWithJob({ tenant: other, size: MB })
    await runQueue()
    await slow.end(jobs.short)
    expect(slow.started(jobs)).toHaveLength(3)
    for (const name of ['middle 1', 'middle 2', 'middle 3', 'long']) await slow.end(jobs[name]!)
    await untilUnfollowed()
  })
})

describe('slots', () => {
  it('limit the number of running jobs, because each slot runs one job', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '3' }
    const jobs: Work[] = []
    for (let n = 1; n <= 5; n++) jobs.push(await aTrackWithJob({ size: 30 * MB }))
    const slow = aSlowTranscoder()
    await Promise.all([runQueue(bindings), runQueue(bindings), runQueue(bindings)])
    const takenSlots = async () =>
      (await query<{ slot: number }>('select slot from jobs where slot is not null order by slot')).map(
        ({ slot }) => slot,
      )
    expect(await takenSlots()).toEqual([0, 7, 14])
    await slow.end(jobs[0]!)
    await runQueue(bindings)
    expect(await takenSlots()).toEqual([0, 7, 14])
    for (const work of jobs.slice(1)) {
      await runQueue(bindings)
      await slow.end(work)
    }
    await eventually(async () => (await takenSlots()).length === 0)
  })

  it('of an unreachable transcoder are skipped', async () => {
    const broken = { follow: () => Promise.reject(new Error('reset')) }
    const TRANSCODER = {
      getByName: (name: string) => (name === 'slot-0' ? broken : env.TRANSCODER.getByName(name)),
    } as unknown as Env['TRANSCODER']
    const bindings: Env = { ...env, TRANSCODER, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '2' }
    const jobs = [await aTrackWithJob({ size: 30 * MB }), await aTrackWithJob({ size: MB })]
    const { transcodes } = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await runQueue(bindings)
    await eventually(async () => transcodes.length === 1)
    const rows = await Promise.all(jobs.map((work) => work.job()))
    expect(rows.reduce((sum, { tries }) => sum + tries, 0)).toBe(1)
    await eventually(async () => (await query(`select 1 from jobs where state = 'done'`)).length === 1)
  })

  it('are those of a single transcoder when the configuration contains no number of transcoders', async () => {
    const bindings = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: undefined } as unknown as Env
    const work = await aTrackWithJob()
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await runQueue(bindings)
    await eventually(async () => (await work.job()).state === 'done')
  })

  it('of the same transcoder are used first, but not for a job whose transcoder died', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '3' }
    const transcoders: number[] = []
    for (const attempt of [0, 1]) {
      const jobs = [await aTrackWithJob({ size: 30 * MB }), await aTrackWithJob({ size: MB })]
      for (const work of jobs) await work.changeJob({ attempt })
      const slow = aSlowTranscoder()
      await runQueue(bindings)
      const rows = await Promise.all(jobs.map((work) => work.job()))
      transcoders.push(new Set(rows.map(({ slot }) => instanceOfSlot(slot!))).size)
      for (const work of jobs) await slow.end(work)
      await untilUnfollowed()
    }
    expect(transcoders).toEqual([1, 2])
  })

  it('are rotated: after a failure, the job runs on another transcoder', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '2' }
    const work = await aTrackWithJob({ size: 30 * MB })
    const slots: number[] = []
    startTranscoder({
      transcode: async () => {
        slots.push((await work.job()).slot!)
        return new Response('stopping', { status: 503 })
      },
    })
    for (let n = 0; n < 3; n++) {
      await runQueue(bindings)
      await eventually(async () => (await work.job()).tries === n + 1)
      await work.changeJob({ lease_until: 0 })
    }
    expect(slots.map(instanceOfSlot)).toEqual([0, 1, 0])
  })
})

describe('a waiting track', () => {
  it('reports the number of tracks ahead of it, and the approximate time that they take', async () => {
    const tenant = await aTenant()
    const jobs: Work[] = []
    for (let n = 0; n < 3; n++) jobs.push(await aTrackWithJob({ tenant, size: 30 * MB }))
    const short = await aTrackWithJob({ tenant, size: MB })
    const waitingInfo = async (work: Work) => (await work.read()).info.waiting
    expect(await Promise.all([...jobs, short].map(waitingInfo))).toEqual([
      { before: 0, seconds: 0 },
      { before: 1, seconds: 30 },
      { before: 2, seconds: 60 },
      { before: 0, seconds: 0 },
    ])
    const slow = aSlowTranscoder()
    await runQueue()
    // A running job counts as half done, because that is the average.
    expect(await waitingInfo(jobs[2]!)).toEqual({ before: 1, seconds: 46 })
    expect(await waitingInfo(jobs[0]!)).toBe(undefined)
    await slow.end(short)
    for (const work of jobs) await slow.end(work)
    expect((await jobs[2]!.read()).info).not.toHaveProperty('waiting')
  })
})
