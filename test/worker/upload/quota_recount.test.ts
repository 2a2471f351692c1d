import { expect, it } from 'vitest'

import { call, HOUR, ok, query } from '../support/api.ts'
import { runSweep, trackRow } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { aQuotaTenant } from '../support/quotas.ts'
import { completeResult, errorEvent, serveTranscoder } from '../support/transcoder.ts'

/** The files of a track in its row, or in its row in the trash, in SQL. */
const bytesOf = (files: string) =>
  `coalesce((select sum(value ->> 1) from json_each(${files}, '$.list') where ${files} ->> '$.is_early' is null), 0)`

/** Returns a function that returns whole numbers below a limit, always the same ones. */
function dice(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor(state / 65_536) % limit
  }
}

it('the use of all quotas equals a recount after random operations', async () => {
  let isBad = false
  serveTranscoder((job) => (isBad ? errorEvent('no_audio', 'No audio') : completeResult(job)))
  const own = await aQuotaTenant()
  const { key, organization_id } = own
  const { id: api_key_id, secret } = await own.anUploader({ max_bytes: 400, max_tracks: 40 })
  const session = await own.aSession(secret, { max_bytes: 300 })
  await own.limitOrganization(100_000)
  const roll = dice(7)
  /** The bytes that the newest URLs of a track may carry. */
  const sizes = new Map<string, number>()
  const states = new Map<string, 'waiting' | 'ended' | 'uploaded' | 'trashed'>()
  const pick = (...wanted: string[]) => {
    const ids = [...states].filter(([, state]) => wanted.includes(state)).map(([id]) => id)
    return ids[roll(ids.length)]
  }
  const create = async () => {
    const size = 10 + roll(50)
    const body = { collection_id: own.collection_id, file_name: 'a.mp3', file_size: size }
    const isInSession = roll(2) === 0
    const answer = isInSession ? await own.add(secret, session, size) : await call('POST', '/v1/track', { key, body })
    if (answer.status === 200) {
      sizes.set(answer.body.track_id, size)
      states.set(answer.body.track_id, 'waiting')
    }
  }
  const end = (id: string) => {
    states.set(id, 'ended')
    sizes.set(id, 0)
  }
  const operations: ((id: string) => Promise<unknown>)[] = [
    async (id) => {
      const file_size = 10 + roll(80)
      const { status } = await call('POST', `/v1/track/${id}/upload`, { key, body: { file_size } })
      if (status === 200) sizes.set(id, Math.max(file_size, sizes.get(id)!))
    },
    async (id) => {
      isBad = roll(3) === 0
      await uploadAndProcess(key, id, isBad ? 'failed' : 'ready')
      states.set(id, 'uploaded')
      sizes.set(id, 0)
    },
    async (id) => {
      await query('update tracks set upload_expires_at = 1, next_check_at = 1 where id = ?', id)
      await runSweep()
      end(id)
    },
    async (id) => {
      const { status, body } = await call('POST', `/v1/track/${id}/multipart`, { key, body: { file_size: 60 } })
      if (status !== 200) return
      // The other URLs of the track have expired, so nothing is reserved after this one has been given up.
      const { upload_path } = await trackRow(id)
      await query('delete from upload_handles where track_id = ? and path <> ?', id, upload_path)
      await ok('DELETE', `/v1/track/${id}/multipart/${body.multipart_upload.id}`, { key })
      end(id)
    },
  ]
  for (let step = 0; step < 60; step++) {
    const [waiting, uploaded, trashed] = [pick('waiting'), pick('uploaded'), pick('trashed')]
    const kind = roll(10)
    if (kind < 4 || !waiting) await create()
    else if (kind < 8) await operations[kind - 4]!(waiting)
    else if (kind === 8 && uploaded) {
      await ok('DELETE', `/v1/track/${uploaded}?trash=true`, { key })
      states.set(uploaded, 'trashed')
    } else if (trashed) {
      const isRestored = roll(2) === 0
      if (isRestored) await ok('POST', `/v1/trash/${trashed}/restore`, { key })
      else await ok('DELETE', `/v1/trash/${trashed}`, { key })
      if (isRestored) states.set(trashed, 'uploaded')
      else states.delete(trashed)
    }
  }
  expect(new Set(states.values())).toEqual(new Set(['waiting', 'ended', 'uploaded', 'trashed']))

  const rows = await query<{ id: string; session: string | null; files: number; source: number; isTrashed: number }>(
    `select id, upload_session_id as session, ${bytesOf('files')} as files,
        iif(source_suffix is null, 0, source_size) as source, 0 as isTrashed from tracks where organization_id = ?1
      union all select id, content ->> '$.upload_session_id', ${bytesOf(`(content ->> '$.files')`)},
        coalesce(content ->> '$.source_size', 0), 1 from trash where organization_id = ?1`,
    organization_id,
  )
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...states.keys()].toSorted())
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  // A source whose processing has failed is stored, although the usage does not count it.
  const stored = rows.map(({ id, files, source }) => files + Math.max(files === 0 ? source : 0, sizes.get(id)!))
  expect(await own.usedBytes()).toBe(sum(stored))
  const inSession = rows.filter((row) => row.session === session)
  const uploaded = inSession.map(({ id, source }) => Math.max(source, sizes.get(id)!))
  expect(uploaded.length).toBeGreaterThan(5)
  const used = { used_bytes: sum(uploaded), used_tracks: inSession.length }
  expect(await own.quotaOfKey(api_key_id)).toMatchObject(used)
  expect(await own.quotaOfSession(session)).toMatchObject({ used_bytes: used.used_bytes })

  await query('update reservations set expires_at = ?', Date.now() - HOUR)
  for (const id of states.keys()) {
    const path = states.get(id) === 'trashed' ? `/v1/trash/${id}` : `/v1/track/${id}`
    await ok('DELETE', path, { key })
  }
  expect(await own.usedBytes()).toBe(0)
  expect(await query('select * from reservations')).toEqual([])
})
