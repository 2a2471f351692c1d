import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { insertRows, readRows, WALKS } from '../../../src/adapters/db/backup.ts'
import { HOUR, ok, query } from '../support/api.ts'
import {
  aTenant,
  deliver,
  eventually,
  putUpload,
  runSweep,
  type Tenant,
  trackRow,
  untilUnfollowed,
} from '../support/fixtures.ts'
import { AUDIO, anImport, eventsOf, fetching, sealedUrls, storeSource, transcode } from '../support/imports.ts'
import { errorEvent, eventStream, openStream, startTranscoder, stopTranscoder } from '../support/transcoder.ts'

/** The job that fetches the file of a track (docs/decisions/0127). */

let tenant: Tenant
beforeEach(async () => {
  tenant = await aTenant()
})

describe('an import', () => {
  it('that fails without a further attempt fails its track, and deletes the URL and the parts', async () => {
    const work = await anImport(tenant)
    const { imports } = startTranscoder({
      async fetchSource(job) {
        await storeSource(job)
        return eventStream(errorEvent('source_not_found', 'The server of source_url answered 404.'))
      },
    })
    expect(await work.run()).toMatchObject({ state: 'failed', error: { code: 'source_not_found' } })
    expect(await work.read()).toMatchObject({
      status: 'failed',
      info: { error: { code: 'source_not_found', message: 'The server of source_url answered 404.', attempt: 1 } },
    })
    expect((await work.read()).info).not.toHaveProperty('progress')
    expect([await sealedUrls(), await query('select * from reservations')]).toEqual([[], []])
    await expect(storeSource(imports[0]!)).rejects.toThrow()
    const [, failed] = await eventsOf(work.track.id)
    expect(failed).toEqual({ type: 'track.failed', error: 'source_not_found' })
    // The track can get an upload instead.
    const { track } = await ok('POST', `/v1/track/${work.track.id}/upload`, { key: tenant.key, body: {} })
    expect(track.status).toBe('initializing')
  })

  it('that may succeed later is tried again after a growing pause, and then fails', async () => {
    const work = await anImport(tenant)
    startTranscoder({ fetchSource: () => eventStream(errorEvent('source_unreachable', 'It answered 503.', true)) })
    const pauses: number[] = []
    for (let attempt = 1; attempt < 4; attempt++) {
      const { lease_until } = await work.run()
      pauses.push(Math.round((lease_until - Date.now()) / 1000))
      await query('update jobs set lease_until = 0 where id = ?', work.job_id)
    }
    expect(pauses).toEqual([40, 80, 160])
    expect((await work.read()).status).toBe('initializing')
    await work.run()
    expect(await work.read()).toMatchObject({
      status: 'failed',
      info: { error: { code: 'source_unreachable', attempt: 4 } },
    })
  })

  it('fails when its transcoder stops again and again, without a tolerant pass', async () => {
    const work = await anImport(tenant)
    startTranscoder({ fetchSource: () => eventStream({ type: 'ping' }) })
    for (let attempt = 1; attempt <= 4; attempt++) {
      await query('update jobs set lease_until = 0 where id = ?', work.job_id)
      await work.run()
    }
    expect(await work.read()).toMatchObject({ status: 'failed', info: { error: { code: 'internal' } } })
    expect(await work.job()).toMatchObject({ pass: 'strict' })
  })

  it('of a deleted track is canceled', async () => {
    const work = await anImport(tenant)
    const stream = openStream()
    const { imports, cancelled } = startTranscoder({ fetchSource: () => stream.response })
    const run = work.run()
    await eventually(async () => imports.length === 1)
    await ok('DELETE', `/v1/track/${work.track.id}`, { key: tenant.key })
    stream.end()
    await run
    expect(cancelled).toContain(work.job_id)
    expect(await work.job()).toMatchObject({ state: 'done', slot: null })
    expect(await sealedUrls()).toEqual([])
    await expect(storeSource(imports[0]!)).rejects.toThrow()
  })

  it('of a track that was in the trash meanwhile is not continued', async () => {
    const work = await anImport(tenant)
    await ok('DELETE', `/v1/track/${work.track.id}?trash=true`, { key: tenant.key })
    expect(await sealedUrls()).toEqual([])
    await ok('POST', `/v1/trash/${work.track.id}/restore`, { key: tenant.key })
    await runSweep()
    expect(await work.read()).toMatchObject({ status: 'failed', info: { error: { code: 'upload_expired' } } })
  })

  it('ends when a file was uploaded instead', async () => {
    const work = await anImport(tenant)
    const stream = openStream()
    const { imports, cancelled } = startTranscoder({ fetchSource: () => stream.response, transcode })
    const run = work.run()
    await eventually(async () => imports.length === 1)
    await putUpload(await trackRow(work.track.id))
    await ok('POST', `/v1/track/${work.track.id}/upload_complete`, { key: tenant.key })
    stream.end()
    await run
    await eventually(async () => (await work.read()).status === 'ready')
    expect(cancelled).toContain(work.job_id)
    expect(await work.job()).toMatchObject({ state: 'done' })
  })

  it('ends without its parts if a file was sent to the upload URL just before', async () => {
    const work = await anImport(tenant)
    const { upload_path } = await trackRow(work.track.id)
    startTranscoder({
      async fetchSource(job) {
        const event = await storeSource(job, 'RIFF\0the other file')
        await env.MEDIA.put(upload_path, AUDIO)
        return eventStream(event)
      },
      transcode,
    })
    expect(await work.run()).toMatchObject({ state: 'done' })
    await eventually(async () => (await work.read()).status === 'ready')
    expect(await (await env.MEDIA.get(upload_path))!.text()).toBe(AUDIO)
  })

  it('that fails leaves a track that waits for a newer upload', async () => {
    const work = await anImport(tenant)
    const path = `/v1/track/${work.track.id}/upload`
    await ok('POST', path, { key: tenant.key, body: { file_name: 'new.wav' } })
    startTranscoder({ fetchSource: () => eventStream(errorEvent('source_not_found', 'It answered 404.')), transcode })
    expect(await work.run()).toMatchObject({ state: 'failed' })
    const { status, info } = await work.read()
    expect([status, info, await sealedUrls()]).toEqual(['initializing', {}, []])
    await env.MEDIA.put((await trackRow(work.track.id)).upload_path, 'RIFF\0audio')
    await eventually(async () => (await work.read()).status === 'ready')
    expect((await work.read()).file_name).toBe('new.wav')
  })

  it('is repeated if its parts cannot be joined, with the same multipart upload', async () => {
    const work = await anImport(tenant)
    const { imports, cancelled } = startTranscoder({
      async fetchSource(job, call) {
        const event = await storeSource(job)
        return eventStream(call === 1 ? { ...event, parts: ['"00000000000000000000000000000000"'] } : event)
      },
      transcode,
    })
    expect(await work.run()).toMatchObject({ state: 'open', attempt: 1 })
    expect(cancelled).toEqual([work.job_id])
    await query('update jobs set lease_until = 0 where id = ?', work.job_id)
    expect(await work.run()).toMatchObject({ state: 'done' })
    const uploadIds = imports.map(({ parts }) => new URL(parts.urls[0]!).searchParams.get('uploadId'))
    expect(uploadIds[1]).toBe(uploadIds[0])
    await eventually(async () => (await work.read()).status === 'ready')
  })

  it('that was stored before the Worker stopped is not fetched again', async () => {
    const work = await anImport(tenant)
    await putUpload(await trackRow(work.track.id))
    const { imports } = startTranscoder({ fetchSource: fetching(), transcode })
    expect(await work.run()).toMatchObject({ state: 'done' })
    expect(imports).toEqual([])
    await eventually(async () => (await work.read()).status === 'ready')
  })

  it('fails if its URL can no longer be read', async () => {
    const work = await anImport(tenant)
    await query(`update source_urls set sealed = 'AAAA.AAAA'`)
    const { imports } = startTranscoder({ fetchSource: fetching() })
    await work.run()
    expect(imports).toEqual([])
    expect(await work.read()).toMatchObject({ status: 'failed', info: { error: { code: 'upload_expired' } } })
  })

  it('ends with a restore, because a backup does not contain the URL', async () => {
    const work = await anImport(tenant)
    const { rows } = await readRows(env.DB, WALKS.tracks!, null, 10)
    await query('delete from tracks')
    await insertRows(env.DB, 'tracks', rows.tracks!)
    // The jobs of tracks that are not being processed are deleted.
    await query('delete from jobs')
    await runSweep()
    const { status, info } = await work.read()
    expect([status, info]).toEqual(['failed', { error: expect.objectContaining({ code: 'upload_expired' }) }])
  })

  it('of a file that is not audio fails like an upload', async () => {
    const work = await anImport(tenant)
    startTranscoder({ fetchSource: fetching('%PDF-1.7\0') })
    await work.run()
    const { status, info } = await work.read()
    expect([status, info]).toEqual(['failed', { error: expect.objectContaining({ code: 'document_file' }) }])
    expect(await sealedUrls()).toEqual([])
  })

  it('may wait for 24 hours, and then fails', async () => {
    const work = await anImport(tenant)
    const { upload_expires_at, created_at } = await trackRow(work.track.id)
    expect(upload_expires_at - created_at).toBe(24 * HOUR)
    await query('update tracks set upload_expires_at = 1, next_check_at = 1 where id = ?', work.track.id)
    stopTranscoder()
    await runSweep()
    const { status, info } = await work.read()
    expect([status, info]).toEqual(['failed', { error: expect.objectContaining({ code: 'upload_expired' }) }])
    expect(await sealedUrls()).toEqual([])
  })
})

it('up to four imports run in a transcoder, and they leave its other slots free', async () => {
  const streams: ReturnType<typeof openStream>[] = []
  const { imports } = startTranscoder({
    fetchSource() {
      const stream = openStream()
      streams.push(stream)
      return stream.response
    },
  })
  const works = []
  for (let n = 0; n < 5; n++) works.push(await anImport(tenant))
  await deliver('transcode', {})
  await eventually(async () => imports.length === 4)
  const running = await query<{ slot: number }>('select slot from jobs where slot is not null order by slot')
  expect(running.map(({ slot }) => slot)).toEqual([3, 4, 5, 6])
  expect((await works[4]!.read()).info).toMatchObject({ waiting: { before: 0, seconds: 8 } })
  streams[0]!.send(errorEvent('source_denied', 'It answered 403.'))
  await eventually(async () => imports.length === 5)
  for (const stream of streams) stream.send(errorEvent('source_denied', 'It answered 403.'))
  await untilUnfollowed()
})
