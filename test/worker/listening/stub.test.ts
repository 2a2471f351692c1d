import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { listeningStub } from '../../../src/listening/stub.ts'
import { call, ok } from '../support/api.ts'
import { aListener, heardReport } from '../support/heard.ts'

type Stub = ReturnType<Env['LISTENING']['getByName']>

const reportsOf = (object: Stub) =>
  runInDurableObject(object, (_, { storage }) => {
    const tables = storage.sql.exec("select name from sqlite_master where name = 'segment'").toArray()
    return tables.length === 0 ? 0 : storage.sql.exec('select * from segment').toArray().length
  })

/** A namespace with jurisdictions, which workerd does not implement. In a jurisdiction, an object has another id; here, another name. */
const namespace = {
  jurisdiction: (jurisdiction: string) => ({
    getByName: (name: string) => env.LISTENING.getByName(`${jurisdiction} ${name}`),
  }),
  getByName: () => {
    throw new Error('outside of the jurisdiction')
  },
} as unknown as Env['LISTENING']

it('reports and statistics are in the objects of the jurisdiction', async () => {
  const { organization_id, track_id, path, key } = await aListener()
  const bindings = { ...env, JURISDICTION: 'eu', LISTENING: namespace }
  expect((await call('POST', path, { body: heardReport(track_id), bindings })).status).toBe(204)
  expect(await reportsOf(env.LISTENING.getByName(`eu ${organization_id}`))).toBe(1)
  const stats = await ok('GET', `/v1/stats/organization/${organization_id}`, { key, bindings })
  expect(stats.totals.visits).toBe(1)
})

it('a jurisdiction that the platform does not know stores nothing, instead of elsewhere', async () => {
  expect(() => listeningStub({ ...env, JURISDICTION: 'eu' }, crypto.randomUUID(), 0)).toThrow(
    'Jurisdiction restrictions are not implemented in workerd',
  )
})

it('a new object gets the location of the deployment as a hint, and a shard has its own name', async () => {
  const requested: unknown[] = []
  const LISTENING = { getByName: (...all: unknown[]) => requested.push(all) } as unknown as Env['LISTENING']
  listeningStub({ ...env, LISTENING, LOCATION_HINT: 'weur' }, 'organization', 0)
  listeningStub({ ...env, LISTENING, LOCATION_HINT: '' }, 'organization', 3)
  expect(requested).toEqual([
    ['organization', { locationHint: 'weur' }],
    ['organization#3', {}],
  ])
  // workerd accepts the hint.
  const object = listeningStub({ ...env, LOCATION_HINT: 'weur' }, crypto.randomUUID(), 0)
  expect(await reportsOf(object)).toBe(0)
})
