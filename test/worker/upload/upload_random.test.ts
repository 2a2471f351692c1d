import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'

import { randomFrom } from '../../support/random.ts'
import { call, HOUR, ok, query } from '../support/api.ts'
import {
  advanceHours,
  deliver,
  eventually,
  runSweep,
  storedFiles,
  trackRow,
  untilUnfollowed,
  uploadEvent,
} from '../support/fixtures.ts'
import { multipartRow, sendPart } from '../support/multipart_uploads.ts'
import { aFile, aTrackWithHandles, pathOf, serveSources } from '../support/upload_handles.ts'

/** The rules of upload_order.test.ts, after random requests, several of them at the same time. */

afterEach(() => void vi.useRealTimers())

const isIdle = async () => {
  await untilUnfollowed()
  const busy = `select 1 from jobs where state = 'open' and (holder is not null or lease_until <= ?)`
  return (await query(busy, Date.now())).length === 0
}

/** Lets hours pass, each time with a sweep and its jobs, until a condition holds. */
async function sweepUntil(hours: number, isOver: () => Promise<boolean>): Promise<void> {
  for (let round = 0; ; round++) {
    await eventually(isIdle)
    if (await isOver()) return
    expect(round).toBeLessThan(20)
    advanceHours(hours)
    await runSweep()
  }
}

it.each([1, 2, 3, 4])(
  'random uploads, checks, aborts, hours and trips to the trash leave the file of the newest handle with a file, its name, and no other object (%i)',
  async (seed) => {
    const random = randomFrom(seed)
    const roll = (limit: number) => Math.floor(random() * limit)
    serveSources()
    const track = await aTrackWithHandles('0.wav')
    const { key, track_id, at } = track
    interface Handle {
      path: string
      name: string
      expires_at: number
      size?: number
    }
    const handles: Handle[] = []
    const add = (path: string, size?: number) => {
      const name = `${handles.length}.wav`
      handles.push({ path, name, expires_at: Date.now() + HOUR, ...(size && { size }) })
    }
    add(pathOf(track.first))
    let isTrashed = false
    let sizes = 10
    const renew = async () => {
      if (isTrashed) return
      const body = { file_name: `${handles.length}.wav` }
      add(pathOf((await ok('POST', `${at}/upload`, { key, body })).track_upload.upload_url))
    }
    const send = async () => {
      const isLate = ({ expires_at }: Handle) => expires_at < Date.now()
      const free = handles.filter((handle) => handle.size === undefined && !(isTrashed && isLate(handle)))
      const handle = free[roll(free.length)]
      if (!handle) return
      handle.size = sizes++
      await env.MEDIA.put(handle.path, aFile(handle.size))
      // An event can be lost only while the handle will still be checked.
      if (isLate(handle) || roll(2) === 0) await deliver('ingest', uploadEvent(handle.path))
    }
    const complete = async () => isTrashed || track.complete()
    const sendParts = async () => {
      const size = sizes++
      const body = { file_size: size, file_name: `${handles.length}.wav` }
      const { multipart_upload } = await ok('POST', `${at}/multipart`, { key, body })
      const { path } = await multipartRow(multipart_upload.id)
      const upload = `${at}/multipart/${multipart_upload.id}`
      const done = [await sendPart(multipart_upload.id, 1, aFile(size))]
      const isAborted = roll(2) === 0
      const [completed, deleted] = await Promise.all([
        call('POST', `${upload}/complete`, { key, body: { done } }),
        isAborted ? call('DELETE', upload, { key }) : null,
      ])
      if (completed.status === 200) add(path, size)
      else expect([completed.status, deleted?.status]).toEqual([404, 200])
    }
    const steps: (() => Promise<unknown>)[] = [send, send, complete, runSweep]
    for (let step = 0; step < 30; step++) {
      const chosen = roll(10)
      if (chosen < 5) await Promise.all([steps[roll(4)]!(), steps[roll(4)]!(), chosen < 3 && renew()])
      else if (chosen < 7) {
        advanceHours([0.2, 1, 3, 26][roll(4)]!)
        await runSweep()
      } else if (chosen < 8) {
        if (isTrashed) await ok('POST', `/v1/trash/${track_id}/restore`, { key })
        else await ok('DELETE', `${at}?trash=true`, { key })
        isTrashed = !isTrashed
      } else if (!isTrashed) await sendParts()
    }
    if (isTrashed) await ok('POST', `/v1/trash/${track_id}/restore`, { key })
    const { path, name, size } = handles.filter((handle) => handle.size !== undefined).at(-1)!
    await track.complete()
    await sweepUntil(0.1, async () => {
      const { source_path, status } = await trackRow(track_id)
      return source_path === path && status === 'ready'
    })
    expect(await trackRow(track_id)).toMatchObject({ source_size: size, duration: size, file_name: name })
    const { replaced_uploads = [] } = (await track.read()).info
    const replaced = replaced_uploads.map(({ file_name }) => file_name)
    expect(new Set([...replaced, name]).size).toBe(replaced.length + 1)
    await sweepUntil(26, async () => (await query('select 1 from upload_handles where path <= ?', path)).length === 0)
    await sweepUntil(26, async () => (await storedFiles('uploads/')).length === 1)
    expect(await storedFiles('uploads/')).toEqual([path])
  },
)
