import { createCollection, createReadyTrack, createTenant, copyRows } from '../worker/seed.ts'
import type { System } from '../worker/system.ts'

/**
 * Numbers of tracks in the organization. All are in one collection and have the same title, which is the worst case for every list query.
 */
export const SIZES = [1000, 100_000]

const RARE = 'Flamenco'

/** Returns the paths of the lists to measure. */
const listQueries = (collection_id: string): string[] => {
  const tracksPath = `/v1/collection/${collection_id}/track`
  const common = ['', '?sort=title', '?sort=-duration', '?sort=updated_at', '?status=ready&organization_index=a']
  return common
    .concat('?q=so+what', `?q=${RARE}`, '?q=so&sort=title', '?status=failed')
    .flatMap((query) => [`/v1/track${query}`, `${tracksPath}${query}`])
    .concat(`${tracksPath}?include=levels,loudness,artwork`)
}

/** Counts the rows that lists read and that changes write, for each number of tracks and each operation. */
export async function lists(system: System) {
  const read: Record<string, number[]> = {}
  const written: Record<string, number[]> = {}
  for (const size of SIZES) {
    const tenant = await createTenant(system)
    const collection_id = await createCollection(system, tenant)
    const targetCollection = await createCollection(system, tenant)
    const first = await createReadyTrack(system, tenant, collection_id, 1)
    const [second, ...ids] = await copyRows(system, first, size - 1)
    const call = async (method: string, path: string, body?: object) => {
      let answer: Record<string, unknown> = {}
      const counts = await system.meter.during(async () => {
        answer = await system.call(method, path, tenant.key, body)
      })
      return { ...counts, answer }
    }
    await call('PUT', `/v1/track/${second}`, { title: RARE })
    for (const path of listQueries(collection_id)) {
      const name = path.replace(collection_id, '{id}')
      read[name] = [...(read[name] ?? []), (await call('GET', path)).read]
    }
    const write = async (name: string, ...request: Parameters<typeof call>) => {
      const { written: rows, answer } = await call(...request)
      written[name] = [...(written[name] ?? []), rows]
      return answer
    }
    const trackPath = `/v1/track/${second}`
    await write('create a track', 'POST', '/v1/track', { collection_id, file_name: 'a.flac' })
    await write('a new title', 'PUT', trackPath, { title: 'Blue in Green' })
    await write('new metadata', 'PUT', trackPath, { metadata: { a: 1 } })
    const batch = (change: object) => ({ changes: ids.slice(0, 200).map((track_id) => ({ ...change, track_id })) })
    await write('200 new titles', 'POST', '/v1/track/batch', batch({ action: 'update', title: 'New' }))
    await write('200 moves', 'POST', '/v1/track/batch', batch({ action: 'move', collection_id: targetCollection }))
    await write('200 deletions', 'POST', '/v1/track/batch', batch({ action: 'delete' }))
  }
  return { read, written }
}
