import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { JOB_SLOTS } from '../../src/contract/facts.ts'
import { aShop, aTrackWithJob, deliver, eventually, unfollowed } from './fixtures.ts'
import { query } from './support.ts'
import { events, openStream, result, startTranscoder } from './transcoder.ts'

/** Whose turn it is, and where jobs run (docs/decisions/0033). */

const MB = 1_000_000
type Work = Awaited<ReturnType<typeof aTrackWithJob>>

/** A transcoder that works on what it was told to until it is told to end, and the order in which it was asked. */
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
    begun: (jobs: Record<string, Work>) =>
      transcodes.map(({ job_id }) => Object.keys(jobs).find((name) => jobs[name]!.job_id === job_id)),
    async end(work: Work) {
      await eventually(async () => streams.has(work.job_id))
      streams.get(work.job_id)!.send(result())
      await eventually(async () => (await work.job()).state !== 'open')
    },
  }
}
const handOver = (bindings: Env = env) => deliver('transcode', {}, { bindings })

describe('organizations', () => {
  it('take turns: many files of one hold up no file of another', async () => {
    const [mine, theirs] = [await aShop(), await aShop()]
    const jobs: Record<string, Work> = {}
    for (let n = 1; n <= 4; n++) jobs[`mine ${n}`] = await aTrackWithJob({ shop: mine, size: 30 * MB })
    jobs.theirs = await aTrackWithJob({ shop: theirs, size: 30 * MB })
    const slow = aSlowTranscoder()
    await handOver()
    await eventually(async () => slow.begun(jobs).length === 1)
    for (const name of ['mine 1', 'theirs', 'mine 2', 'mine 3']) await slow.end(jobs[name]!)
    await eventually(async () => slow.begun(jobs).length === 5)
    expect(slow.begun(jobs)).toEqual(['mine 1', 'theirs', 'mine 2', 'mine 3', 'mine 4'])
    await slow.end(jobs['mine 4']!)
    await unfollowed()
  })

  it('have new files processed before the tracks of a reprocess', async () => {
    const shop = await aShop()
    const background = await aTrackWithJob({ shop, size: 30 * MB })
    await query(`update jobs set is_background = 1, rank = rank + 86400000 where id = ?`, background.job_id)
    const fresh = await aTrackWithJob({ shop, size: 30 * MB })
    const jobs = { background, fresh }
    const slow = aSlowTranscoder()
    await handOver()
    await slow.end(fresh)
    await slow.end(background)
    expect(slow.begun(jobs)).toEqual(['fresh', 'background'])
    await unfollowed()
  })
})

describe('a short file', () => {
  it('is processed beside a long one, and beside many of middle size', async () => {
    const [mine, theirs] = [await aShop(), await aShop()]
    const jobs: Record<string, Work> = { long: await aTrackWithJob({ shop: mine, size: 600 * MB }) }
    for (let n = 1; n <= 3; n++) jobs[`middle ${n}`] = await aTrackWithJob({ shop: mine, size: 10 * MB })
    const slow = aSlowTranscoder()
    await handOver()
    await eventually(async () => slow.begun(jobs).length === 2)
    expect(new Set(slow.begun(jobs))).toEqual(new Set(['long', 'middle 1']))
    jobs.short = await aTrackWithJob({ shop: theirs, size: MB })
    await handOver()
    await slow.end(jobs.short)
    expect(slow.begun(jobs)).toHaveLength(3)
    for (const name of ['middle 1', 'middle 2', 'middle 3', 'long']) await slow.end(jobs[name]!)
    await unfollowed()
  })
})

describe('places', () => {
  it('are found, not guessed: as many jobs run as there are, each in one of its own', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '3' }
    const jobs: Work[] = []
    for (let n = 1; n <= 5; n++) jobs.push(await aTrackWithJob({ size: 30 * MB }))
    const slow = aSlowTranscoder()
    await Promise.all([handOver(bindings), handOver(bindings), handOver(bindings)])
    const taken = async () =>
      (await query<{ slot: number }>('select slot from jobs where slot is not null order by slot')).map(
        ({ slot }) => slot,
      )
    expect(await taken()).toEqual([0, 3, 6])
    await slow.end(jobs[0]!)
    await handOver(bindings)
    expect(await taken()).toEqual([0, 3, 6])
    for (const work of jobs.slice(1)) {
      await handOver(bindings)
      await slow.end(work)
    }
    await eventually(async () => (await taken()).length === 0)
  })

  it('of a transcoder that cannot be handed to are passed over', async () => {
    const broken = { follow: () => Promise.reject(new Error('reset')) }
    const TRANSCODER = {
      getByName: (name: string) => (name === 'slot-0' ? broken : env.TRANSCODER.getByName(name)),
    } as unknown as Env['TRANSCODER']
    const bindings: Env = { ...env, TRANSCODER, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '2' }
    const jobs = [await aTrackWithJob({ size: 30 * MB }), await aTrackWithJob({ size: MB })]
    const { transcodes } = startTranscoder({ transcode: () => events(result()) })
    await handOver(bindings)
    await eventually(async () => transcodes.length === 1)
    const rows = await Promise.all(jobs.map((work) => work.job()))
    expect(rows.reduce((sum, { tries }) => sum + tries, 0)).toBe(1)
    await eventually(async () => (await query(`select 1 from jobs where state = 'done'`)).length === 1)
  })

  it('are those of one transcoder where a configuration does not say how many there are', async () => {
    const bindings = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: undefined } as unknown as Env
    const work = await aTrackWithJob()
    startTranscoder({ transcode: () => events(result()) })
    await handOver(bindings)
    await eventually(async () => (await work.job()).state === 'done')
  })

  it('are beside those of others, but apart for a job whose transcoder died', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '3' }
    const transcoders: number[] = []
    for (const attempt of [0, 1]) {
      const jobs = [await aTrackWithJob({ size: 30 * MB }), await aTrackWithJob({ size: MB })]
      for (const work of jobs) await work.changeJob({ attempt })
      const slow = aSlowTranscoder()
      await handOver(bindings)
      const rows = await Promise.all(jobs.map((work) => work.job()))
      transcoders.push(new Set(rows.map(({ slot }) => Math.floor(slot! / JOB_SLOTS.length))).size)
      for (const work of jobs) await slow.end(work)
      await unfollowed()
    }
    expect(transcoders).toEqual([1, 2])
  })

  it('are tried in turn: after a failure another transcoder is asked', async () => {
    const bindings: Env = { ...env, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '2' }
    const work = await aTrackWithJob({ size: 30 * MB })
    const places: number[] = []
    startTranscoder({
      transcode: async () => {
        places.push((await work.job()).slot!)
        return new Response('stopping', { status: 503 })
      },
    })
    for (let n = 0; n < 3; n++) {
      await handOver(bindings)
      await eventually(async () => (await work.job()).tries === n + 1)
      await work.changeJob({ lease_until: 0 })
    }
    expect(places).toEqual([0, 3, 0])
  })
})

describe('a track that waits', () => {
  it('tells how many are before it, and about how long that takes', async () => {
    const shop = await aShop()
    const jobs: Work[] = []
    for (let n = 0; n < 3; n++) jobs.push(await aTrackWithJob({ shop, size: 30 * MB }))
    const short = await aTrackWithJob({ shop, size: MB })
    const told = async (work: Work) => (await work.read()).info.waiting
    expect(await Promise.all([...jobs, short].map(told))).toEqual([
      { before: 0, seconds: 0 },
      { before: 1, seconds: 30 },
      { before: 2, seconds: 60 },
      { before: 0, seconds: 0 },
    ])
    const slow = aSlowTranscoder()
    await handOver()
    // Half of what runs is done, in the mean.
    expect(await told(jobs[2]!)).toEqual({ before: 1, seconds: 46 })
    expect(await told(jobs[0]!)).toBe(undefined)
    await slow.end(short)
    for (const work of jobs) await slow.end(work)
    expect((await jobs[2]!.read()).info).not.toHaveProperty('waiting')
  })
})
