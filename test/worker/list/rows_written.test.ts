import { describe, expect, it } from 'vitest'

import { aWaitingTrack, ok, query } from '../support/api.ts'
import { runSweep } from '../support/fixtures.ts'
import { aLargeTenant, seedTables } from '../support/large_tenant.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { countAllRows, countRows, countCallRows } from '../support/row_counter.ts'
import { seededId } from '../support/seed.ts'
import { errorEvent, completeResult, serveTranscoder } from '../support/transcoder.ts'

type Shop = Awaited<ReturnType<typeof aLargeTenant>>

/** Measures the rows that each kind of change reads. Each change is undone, so that the measurement can be repeated. */
async function measure({ key, collection_id, playlist_id, track_id: first_id }: Shop) {
  const rows: Record<string, number> = {}
  const run = async (name: string, method: string, path: string, body?: unknown) => {
    const { read, body: answer } = await countCallRows(method, path, { key, body })
    rows[name] = read
    return answer
  }
  const { track_id } = await run('createTrack', 'POST', '/v1/track', {
    collection_id,
    file_name: 'a.mp3',
    organization_index: 'new',
  })
  await run('updateTrack', 'PUT', `/v1/track/${track_id}`, { organization_index: 'newer' })
  await run('createCollection', 'POST', '/v1/collection', { title: 'New' })
  await run('createApiKey', 'POST', '/v1/api_key', { title: 'New', type: 'player' })
  const entries = `/v1/playlist/${playlist_id}/track`
  await run('insertPlaylistTracks', 'POST', entries, { track_ids: [track_id, track_id], position: 3 })
  const { tracks } = await ok('GET', `${entries}?limit=4`, { key })
  const entry = `${entries}/${tracks[3].playlist_track_id}`
  await run('movePlaylistTrack', 'PUT', entry, { position: 9 })
  await run('removePlaylistTrack', 'DELETE', entry)
  const order = `/v1/collection/${collection_id}/track/order`
  await run('orderCollectionTracks', 'PUT', order, { track_ids: [track_id, first_id] })
  await run('orderCollectionTracks back', 'PUT', order, { track_ids: [first_id, track_id] })
  const many = Array.from({ length: 900 }, (_, at) => seededId('tracks', 901 - at))
  await run('orderCollectionTracks of 900', 'PUT', order, { track_ids: many })
  await run('discardTrack', 'DELETE', `/v1/track/${track_id}?trash=true`)
  await run('restoreTrash', 'POST', `/v1/trash/${track_id}/restore`)
  await run('deleteTrack', 'DELETE', `/v1/track/${track_id}`)
  const { playlist_id: new_id } = await run('createPlaylist', 'POST', '/v1/playlist', { title: 'New' })
  await run('discardPlaylist', 'DELETE', `/v1/playlist/${new_id}?trash=true`)
  await run('restoreTrash of a playlist', 'POST', `/v1/trash/${new_id}/restore`)
  await ok('DELETE', `/v1/playlist/${new_id}?trash=true`, { key })
  await run('deleteTrash', 'DELETE', `/v1/trash/${new_id}`)
  await run(
    'deletePlaylist',
    'DELETE',
    `/v1/playlist/${(await ok('POST', '/v1/playlist', { key, body: { title: 'Gone' } })).playlist_id}`,
  )
  await ok('DELETE', `/v1/playlist/${playlist_id}?trash=true`, { key })
  await run('restoreTrash of a playlist of 200', 'POST', `/v1/trash/${playlist_id}/restore`)
  return rows
}

describe('rows read by changes', () => {
  it('are no more numerous with 20,000 rows than with 1,000, and background work reads few rows', async () => {
    const tenant = await aLargeTenant()
    const small = await measure(tenant)
    await seedTables(tenant, 1001, 20_000, ['playlists', 'tracks'])
    await countCallRows('GET', '/v1/playlist', { key: tenant.key })
    const many = await measure(tenant)
    // A change may read one row more or less where a range of `list_counts` starts or ends.
    const grown = Object.entries(many).filter(([name, read]) => read > small[name]! + 10)
    expect(grown).toEqual([])

    serveTranscoder(() => errorEvent('no_audio', 'No audio'))
    const track_id = await aWaitingTrack(tenant.key, tenant.collection_id)
    const failing = await countAllRows(() => uploadAndProcess(tenant.key, track_id, 'failed'))
    expect(failing.read, 'while a track is processed and fails').toBeLessThan(1000)

    const album = { album: 'Kind of Blue', track_number: 1 }
    serveTranscoder((job) => completeResult(job, { tags: album }))
    await query('update collections set is_ordered = 0')
    await query(`update tracks set tags = json_set(?, '$.track_number', "order" + 1)`, JSON.stringify(album))
    const tagged_id = await aWaitingTrack(tenant.key, tenant.collection_id)
    const ordering = await countAllRows(() => uploadAndProcess(tenant.key, tagged_id))
    expect(ordering.read, 'while a track finds its place in an album of 20,000').toBeLessThan(5000)
    const [placed] = await query(
      'select (select max("order") from tracks) - "order" as back from tracks where id = ?',
      tagged_id,
    )
    expect(placed).toEqual({ back: 200 })

    await query(`delete from jobs where state = 'open'`)
    // The first sweep of a day also checks for old events, so it is not measured.
    await runSweep()
    const sweeping = await countRows(runSweep)
    // The sweep reads one or two rows for each kind of work that it checks.
    expect(sweeping.read, 'in a sweep with nothing to do').toBeLessThan(22)
  })
})
