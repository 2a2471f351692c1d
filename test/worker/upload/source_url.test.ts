import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { expectError, ok, query } from '../support/api.ts'
import { aTenant, eventually, jobRow, type Tenant, trackRow } from '../support/fixtures.ts'
import { anImport, AUDIO, eventsOf, fetching, sealedUrls, SOURCE, transcode } from '../support/imports.ts'
import { aQuotaTenant } from '../support/quotas.ts'
import { errorEvent, openStream, startTranscoder } from '../support/transcoder.ts'

/** The field `source_url` of a new track (docs/decisions/0127). */

let tenant: Tenant
beforeEach(async () => {
  tenant = await aTenant()
})

describe('a track with a source_url', () => {
  it('gets its file from there, and is processed like an upload', async () => {
    const work = await anImport(tenant)
    expect(work.track).toMatchObject({ status: 'initializing', file_name: 'Mine.wav', info: { progress: 0 } })
    expect(work.track.info.error).toBeUndefined()
    const { imports } = startTranscoder({ fetchSource: fetching(), transcode })
    expect(await work.run()).toMatchObject({ state: 'done', slot: null, attempt: 1 })
    await eventually(async () => (await work.read()).status === 'ready')
    expect(imports).toEqual([
      {
        version: 1,
        job_id: work.job_id,
        source_url: SOURCE,
        hosts: { own: [], bucket: 'localhost' },
        max_size: 1_000_000,
        parts: { size: 100_000_000, urls: [expect.any(String)] },
      },
    ])
    const { upload_path } = await trackRow(work.track.id)
    expect(await (await env.MEDIA.get(upload_path))!.text()).toBe(AUDIO)
    expect((await eventsOf(work.track.id)).map(({ type }) => type)).toEqual([
      'track.created',
      'track.uploaded',
      'track.ready',
    ])
    expect(await query('select * from reservations')).toEqual([])
  })

  it('keeps the URL secret: encrypted while it is needed, and then deleted', async () => {
    const work = await anImport(tenant)
    const kept = await sealedUrls()
    expect(kept).toEqual([{ track_id: work.track.id, sealed: expect.stringMatching(/^[\w+/=]+\.[\w+/=]+$/) }])
    const rows = await Promise.all(
      ['tracks', 'jobs', 'events', 'reservations', 'search'].map((name) => query(`select * from ${name}`)),
    )
    expect(JSON.stringify([kept, rows, await work.read()])).not.toMatch(/radio|signature=|secret/)
    startTranscoder({ fetchSource: fetching(), transcode })
    await work.run()
    expect(await sealedUrls()).toEqual([])
  })

  it.each([
    ['the name that its server gives it', {}, 'a/Theirs.flac', 'a/Theirs.flac'],
    ['the name in the URL', {}, null, 'Side A.mp3'],
    ['no part of the URL that may be a secret', { source_url: 'https://a.shop.com/get/s3cr3t' }, null, 'Mine.wav'],
  ])('has the file_name of the request, and as file_name_original %s', async (_, body, served, file_name_original) => {
    const work = await anImport(tenant, body)
    startTranscoder({ fetchSource: fetching(AUDIO, served), transcode })
    await work.run()
    expect(await work.read()).toMatchObject({ file_name: 'Mine.wav', file_name_original })
  })

  it('shows its place in the queue, and the fraction that has arrived', async () => {
    const work = await anImport(tenant)
    expect((await work.read()).info).toEqual({ progress: 0, waiting: { before: 0, seconds: 0 } })
    const stream = openStream()
    startTranscoder({ fetchSource: () => stream.response })
    const run = work.run()
    stream.send({ type: 'progress', fraction: 0.4 })
    await eventually(async () => (await jobRow(work.job_id)).slot !== null)
    expect((await work.read()).info).not.toHaveProperty('waiting')
    stream.send(errorEvent('source_not_found', 'It does not exist.'))
    await run
  })
})

describe('a source_url', () => {
  /** Expects 400 for a track with this body. */
  const refuse = (body: object) =>
    expectError(400, 'invalid_request', 'POST', '/v1/track', {
      key: tenant.key,
      body: { collection_id: tenant.collection_id, file_name: 'a.mp3', ...body },
    })

  it('must be an allowed URL', async () => {
    const refused = [
      'http://radio.shop.com/a',
      'https://user:word@radio.shop.com/a',
      'https://10.0.0.1/',
      'https://tonearm.test/a',
      'file:///etc/passwd',
      // The ports of the storage and the transcoder.
      'http://127.0.0.1:8787/',
      'http://127.0.0.1:8788/',
    ]
    for (const source_url of refused) {
      const answer = await refuse({ source_url })
      expect(answer).toMatchObject({ errors: [{ path: 'source_url' }] })
      expect(JSON.stringify(answer)).not.toContain(source_url)
    }
    await refuse({ source_url: `https://a.shop.com/${'a'.repeat(4096)}` })
    expect(await query('select id from tracks')).toEqual([])
  })

  it('is for server keys only', async () => {
    const { upload_session } = await ok('POST', '/v1/upload_session', {
      key: tenant.key,
      body: { collection_id: tenant.collection_id },
    })
    const body = { file_name: 'a.mp3', source_url: SOURCE }
    const path = `/v1/upload/${upload_session.id}/track`
    await expectError(400, 'unknown_field', 'POST', path, { key: tenant.key, body })
  })

  it('is imported once if the request is repeated', async () => {
    const { key, collection_id } = tenant
    const request = {
      key,
      body: { collection_id, file_name: 'a.mp3', source_url: SOURCE },
      headers: { 'idempotency-key': 'once' },
    }
    const [first, second] = [await ok('POST', '/v1/track', request), await ok('POST', '/v1/track', request)]
    expect(second.track_id).toBe(first.track_id)
    expect(await query(`select id from jobs where payload ->> 'kind' = 'import'`)).toHaveLength(1)
    await query('delete from jobs')
  })
})

describe('a quota', () => {
  it('is not taken by the largest size while the size is not known, and is checked when the file has arrived', async () => {
    const own = await aQuotaTenant()
    await own.limitOrganization(15)
    const [first, second] = [await anImport(own), await anImport(own)]
    expect(await own.usedBytes()).toBe(2)
    startTranscoder({ fetchSource: fetching(), transcode })
    await first.run()
    await second.run()
    const errors = await Promise.all([first, second].map(async (work) => (await work.read()).info.error?.code))
    expect(new Set(errors)).toEqual(new Set(['quota_exceeded', undefined]))
    const body = { collection_id: own.collection_id, file_name: 'a.mp3', source_url: SOURCE, file_size: 10 }
    await expectError(409, 'quota_exceeded', 'POST', '/v1/track', { key: own.key, body })
  })
})
