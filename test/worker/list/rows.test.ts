import { describe, expect, it } from 'vitest'

import { CATALOG } from '../../../src/contract/catalog.ts'
import { MAX_ENDPOINTS } from '../../../src/contract/facts.ts'
import { type OperationName, operations } from '../../../src/contract/index.ts'
import { deliveryIdOf } from '../../../src/resources/webhooks/delivery.ts'
import { CREATOR, HOUR, itemsOf, ok } from '../support/api.ts'
import { stopTime } from '../support/fixtures.ts'
import { aLargeTenant, seedTables } from '../support/large_tenant.ts'
import { keyOf, operationNames } from '../support/requests.ts'
import { countRows, countCallRows } from '../support/row_counter.ts'
import { seedDeliveries, seededId, seedEvents } from '../support/seed.ts'
import { aShare, openPage } from '../support/share_visitor.ts'

type Request = [path: string, query?: string]
type Ids = Awaited<ReturnType<typeof aLargeTenant>> & { endpoint_id: string; feed_share_id: string; since: number }
const FILTERS = [`?creator_id=${CREATOR}`, '?organization_index=a']

/** The measured requests to operations that read, if they are not the path with the ids of the tenant. */
const ownRequests = (ids: Ids): Partial<Record<OperationName, Request[]>> => ({
  listCollections: ['', ...FILTERS].map((filter) => ['/v1/collection', filter]),
  listCollectionTracks: ['', '?status=ready', ...FILTERS].map((filter) => [
    `/v1/collection/${ids.collection_id}/track`,
    filter,
  ]),
  getTrack: [[`/v1/track/${ids.track_id}`], [`/v1/track/${ids.session_track_id}`]],
  getSessionTrack: [[`/v1/upload/${ids.upload_session_id}/track/${ids.session_track_id}`]],
  getTrackMultipart: [[`/v1/track/${ids.session_track_id}/multipart/${ids.multipart_upload_id}`]],
  getSessionMultipart: [
    [`/v1/upload/${ids.upload_session_id}/track/${ids.session_track_id}/multipart/${ids.multipart_upload_id}`],
  ],
  getPlaySession: [ids.ofCollection, ids.ofTrack, ids.ofPlaylist].map((id) => [`/v1/play_session/${id}`]),
  playSession: [ids.ofCollection, ids.ofTrack, ids.ofPlaylist].map((id) => [`/v1/play/${id}`]),
  playTrack: [ids.ofCollection, ids.ofTrack, ids.ofPlaylist].map((id) => [`/v1/play/${id}/${ids.track_id}`]),
  downloadTrack: [[`/v1/play/${ids.ofTrack}/${ids.track_id}/aac-160/download`]],
  downloadAll: [[`/v1/play/${ids.ofTrack}/download`]],
  getVariant: [[`/v1/variant/${CATALOG[0]!.id}`]],
  listPlaylists: ['', ...FILTERS].map((filter) => ['/v1/playlist', filter]),
  getApiKey: [[`/v1/api_key/${seededId('api_keys', 1)}`]],
  listShares: ['', `?resource_id=${ids.collection_id}`].map((filter) => ['/v1/share', filter]),
  getShare: [[`/v1/share/${seededId('shares', 1)}`]],
  checkFeed: [[`/v1/share/${ids.feed_share_id}/feed`]],
  listEvents: ['', `?after=${ids.since + 400}&type=api_key.*`].map((filter) => ['/v1/event', filter]),
  listWebhookEndpoints: ['', '?include=day'].map((filter) => ['/v1/webhook_endpoint', filter]),
  getWebhookEndpoint: ['', '?include=day'].map((filter) => [`/v1/webhook_endpoint/${ids.endpoint_id}`, filter]),
  listWebhookDeliveries: ['', '?state=failed', `?endpoint_id=${ids.endpoint_id}&state=failed`].map((filter) => [
    '/v1/webhook_delivery',
    filter,
  ]),
  getWebhookDelivery: [[`/v1/webhook_delivery/${deliveryIdOf(ids.endpoint_id, ids.since + 500)}`]],
  getStats: [[`/v1/stats/track/${ids.track_id}`], [`/v1/stats/organization/${ids.organization_id}`]],
  getProgress: [['/v1/listener/anyone/progress']],
})

/** Returns the measured requests to each operation that reads. */
function readRequests(ids: Ids): [OperationName, Request[]][] {
  const own = ownRequests(ids)
  const pathOf = (path: string) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (!(name in ids)) throw new Error(`${path} needs a request in ownRequests`)
      return String(ids[name as keyof Ids])
    })
  const reads = operationNames.filter((name) => operations[name].method === 'get')
  return reads.map((name) => [name, own[name] ?? [[pathOf(operations[name].path)]]])
}

/**
 * Maximum number of rows that a page may read: its rows, its count, and the list's owner. Playlist entries join their tracks; the list of all tracks
 * also reads the tracks' collections, counts up to a thousand, and then adds the stored count of its collection. A delivery is read with its event and its window. The window of all endpoints contains
 * 5,000 deliveries, which are read once for the matches and once for the end.
 */
function maxRows(name: OperationName, filter: string): number {
  if (name === 'listWebhookDeliveries') return filter.includes('state=') ? 15_100 : 5120
  if (name === 'listWebhookEndpoints') return filter === '' ? 20 : 10_020
  return name === 'listPlaylistTracks' ? 102 : name === 'listTracks' ? 1152 : 52
}

/** Lists whose pages do not have 50 items: constant lists, and lists whose maximum length is set by the contract. */
const SHORT = ['listVariants', 'listLimits', 'listWebhookEndpoints']

describe('rows', () => {
  it('that an operation reads are no more numerous with 20,000 rows than with 1,000, and none are written', async () => {
    const tenant = await aLargeTenant()
    // The endpoints subscribe to no event of this test.
    const body = { url: 'http://127.0.0.1:9/', events: ['webhook.test'] }
    const endpoints: string[] = []
    while (endpoints.length < MAX_ENDPOINTS)
      endpoints.push((await ok('POST', '/v1/webhook_endpoint', { key: tenant.key, body })).webhook_endpoint_id)
    const [endpoint_id = '', ...others] = endpoints
    // The seeded events belong to one hour of this day and are older than all other events.
    const since = (Math.floor(Date.now() / HOUR) - 2) * HOUR
    const feed = { is_downloadable: true, feed: {} }
    const podcasts = [
      await aShare(tenant.key, tenant.collection_id, feed),
      await aShare(tenant.key, tenant.collection_id, { scope: 'playlist', id: tenant.playlist_id, ...feed }),
    ]
    const ids = { ...tenant, endpoint_id, feed_share_id: podcasts[0]!.id, since }
    const cases = readRequests(ids)
    // The first use of a key reads it and records the use. Afterwards, authentication reads no rows for 30 s. The clock is stopped so
    // that these 30 s do not end during the test.
    stopTime()
    await countCallRows('GET', '/v1/limits', { key: ids.key })
    const shares = [
      await aShare(ids.key, ids.collection_id),
      await aShare(ids.key, ids.collection_id, { scope: 'playlist', id: ids.playlist_id }),
    ]
    // Pages of shares. The page of the collection lists tracks with their collections, and the page of the playlist lists entries.
    const pages = shares.flatMap(({ slug, url }): [string, number, number][] => [
      [`/s/${slug}`, 200, 320],
      [`/s/${slug}/cover.jpg`, 302, 10],
      [`/embed/s/${slug}`, 200, 10],
      [`/oembed?url=${encodeURIComponent(url)}`, 200, 30],
    ])
    pages.push([`/zip/${ids.ofCollection}`, 413, 2000])
    for (const { slug } of podcasts) pages.push([`/s/${slug}/feed.xml`, 200, 1010])
    const measure = async () => {
      const rows: Record<string, number> = {}
      for (const [path, status, limit] of pages) {
        const { result, read, written } = await countRows(() => openPage(path))
        expect([path, written, result.status]).toEqual([path, 0, status])
        expect(read, `rows that ${path} reads`).toBeLessThanOrEqual(limit)
        rows[path] = read
      }
      for (const [name, requests] of cases) {
        for (const [path, filter = ''] of requests) {
          const request = ['GET', `${path}${filter}`, { key: keyOf(name, ids) }] as const
          await countCallRows(...request)
          const { read, written, body } = await countCallRows(...request)
          expect(written, `${request[1]} writes rows`).toBe(0)
          rows[request[1]] = read
          if (!name.startsWith('list')) continue
          const page = itemsOf(body as object)
          if (!SHORT.includes(name)) expect([request[1], page.length]).toEqual([request[1], 50])
          expect(read, `rows that ${request[1]} reads`).toBeLessThanOrEqual(maxRows(name, filter))
        }
      }
      return rows
    }
    /** Adds events. The first endpoint gets deliveries of all of them, and each other endpoint gets `received` deliveries. */
    const addEvents = async (from: number, to: number, received: number) => {
      await seedEvents(since + from, since + to, ids)
      await seedDeliveries(since + from, since + to, endpoint_id)
      for (const other of others) await seedDeliveries(since + to - received, since + to, other)
    }
    // A filter scans up to 5,000 deliveries, of one endpoint or of all endpoints. Both measurements must reach that number.
    await addEvents(1, 6000, 300)
    const small = await measure()
    await seedTables(ids, 1001, 20_000)
    await addEvents(6001, 20_000, 3000)
    const many = await measure()
    expect(many).toEqual(small)
  })
})
