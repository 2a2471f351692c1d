import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { reset } from '../support/cloudflare/account.ts'
import type { Cloudflare } from '../support/cloudflare/server.ts'
import {
  aConfig,
  CHECKED,
  deploy,
  IMAGE,
  playAccount,
  root,
  runDoctor,
  startWrangler,
  wrangler,
} from './deploy_setup.ts'
import { joinStack } from './shared_stack.ts'

/** Tests the checks of a deployment, the places that it chooses, and its doctor. */

const plain = aConfig()
const european = aConfig((text) => text.replace(/^bucket_name = .*$/m, '$&\njurisdiction = "eu"'))
const withClass = aConfig((text) =>
  text
    .replace('empty_worker.ts', 'newer_worker.ts')
    .replace(/^\[\[containers\]\]$/m, '[[migrations]]\ntag = "v2"\nnew_sqlite_classes = ["Rooms"]\n$&'),
)
const uneven = aConfig((text) => text.replace('TRANSCODER_INSTANCES = "5"', 'TRANSCODER_INSTANCES = "7"'))
let cloudflare: Cloudflare

beforeAll(async () => {
  cloudflare = await playAccount(await joinStack())
})
afterAll(() => cloudflare?.close())
beforeEach(() => reset(cloudflare.account))
const varsOf = () => cloudflare.account.workers.get('tonearm')?.vars

test('a dry run of an empty account lists all migrations, and changes nothing', async () => {
  const { code, output, changes } = await deploy(cloudflare, [...IMAGE, '--dry-run'])
  expect(output).toMatch(/database tonearm: will be created\nok {6}read replication: will be switched on\n/)
  const migrations = readdirSync(join(root, 'drizzle')).filter((name) => name.endsWith('.sql'))
  expect(output).toContain(`migrations: to be applied: ${migrations.toSorted().join(', ')}\n`)
  expect(changes).toEqual([])
  expect(code).toBe(0)
})

test('a deployment places bucket and database, and switches on read replication, which stays on', async () => {
  const { code } = await deploy(cloudflare, [...IMAGE, '--location', 'weur'])
  expect(code).toBe(0)
  const { databases, buckets } = cloudflare.account
  expect(buckets.get('tonearm-media')).toMatchObject({ location: 'weur' })
  expect(varsOf()).toMatchObject({ JURISDICTION: '', LOCATION_HINT: 'weur' })
  expect(databases.get('tonearm')).toMatchObject({ location: 'weur', jurisdiction: null, replication: 'auto' })

  // The database has rows, and its second migration is pending.
  const { sql } = databases.get('tonearm')!
  sql.exec(`delete from d1_migrations where name like '0001%'; drop trigger collections_search_insert;
    drop trigger playlists_search_insert; drop trigger playlists_search_title_insert; drop trigger playlists_count_insert;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 100002)
    insert into playlists (id, organization_id, title, metadata, theme, cover_colors, seq, created_at) select i, 'o1', '', '{}', '', '[]', i, 1 from n;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1234)
    insert into collections (id, organization_id, title, metadata, theme, cover_colors, seq, created_at) select i, 'o1', '', '{}', '', '[]', i, 1 from n`)
  const dry = await deploy(cloudflare, [...IMAGE, '--dry-run', '--location', 'apac'])
  expect(dry.output).toMatch(/where the data is: bucket and listening in weur; --location has no effect any more\n/)
  expect(dry.output).toMatch(/read replication: is on\nok {6}migrations: to be applied: 0001_triggers.sql\n/)
  expect(dry.output).toMatch(
    /They name .*collections \(1,234 rows\).*playlists \(more than 100,000 rows\).*the database has \d+\.\d MB\./,
  )
  expect(dry.changes).toEqual([])

  databases.delete('tonearm')
  const without = await deploy(cloudflare, [...IMAGE, '--dry-run'])
  expect(without.output).toMatch(
    /FAILED {2}database tonearm: does not exist, but the deployed Worker is bound to a database/,
  )
  expect(without.code).toBe(1)
})

test('a deployment goes on without read replication if D1 rejects it, and its database is in the jurisdiction of the bucket', async () => {
  cloudflare.account.rules.hasReplication = false
  const args = [...IMAGE, '--config', european]
  const environment = { S3_ENDPOINT: `${cloudflare.url}/s3` }
  const first = await deploy(cloudflare, args, environment)
  expect(first.output).toMatch(/- {7}read replication is off: .*not available/)
  expect(first.code).toBe(0)
  const database = cloudflare.account.databases.get('tonearm')!
  expect(database.jurisdiction).toBe('eu')
  expect(first.output).toMatch(
    /where the data is: bucket, database and listening in the jurisdiction eu\n- {7}containers process audio outside of eu/,
  )
  expect(varsOf()).toMatchObject({ JURISDICTION: 'eu', LOCATION_HINT: '' })

  // A database outside the jurisdiction is refused.
  database.jurisdiction = null
  const { code, output, changes } = await deploy(cloudflare, args, environment)
  expect(output).toMatch(
    /FAILED {2}database tonearm: is not in the jurisdiction eu of the bucket, .*deploy a second Tonearm/,
  )
  expect(changes).toEqual([])
  expect(code).toBe(1)
})

test.each([
  ['leave', european, plain, /has its data in the jurisdiction eu\. In no jurisdiction are another bucket/],
  ['enter', plain, european, /has its data in no jurisdiction\. In the jurisdiction eu are another bucket/],
])('a deployment cannot %s a jurisdiction, where its data would be missing', async (_, before, after, says) => {
  const deployWith = (config: string, ...more: string[]) => deploy(cloudflare, [...IMAGE, '--config', config, ...more])
  expect(await deployWith(before)).toMatchObject({ code: 0 })
  for (const option of [['--dry-run'], []]) {
    const { code, output, changes } = await deployWith(after, ...option)
    expect(output).toMatch(says)
    expect(output).toMatch(/→ put the jurisdiction .* back\. To move, deploy a second Tonearm .*restore a backup/)
    expect({ code, changes }).toEqual({ code: 1, changes: [] })
  }
})

test('a version with a new class says that no rollback passes it, and the version before it can be deployed again', async () => {
  const { account } = cloudflare
  const worker = () => account.workers.get('tonearm')!
  const deployWith = (config: string, ...more: string[]) =>
    deploy(cloudflare, [...CHECKED, '--config', config, ...more], { ROOT_KEY: worker()?.secrets.ROOT_KEY })
  expect(await deployWith(plain, '--skip-doctor')).toMatchObject({ code: 0 })
  expect(worker()).toMatchObject({ migration_tag: 'v1', classes: ['TranscoderContainer', 'Listening'] })
  const again = await deployWith(plain, '--dry-run')
  expect(again.output).toMatch(/ok {6}classes of Durable Objects: exist\n/)

  const says =
    /Rooms will be added\. After that, Cloudflare refuses a rollback to the deployed version: the way back is/
  expect((await deployWith(withClass, '--dry-run')).output).toMatch(says)
  account.brokenPath = '/v1/collection'
  const failed = await deployWith(withClass)
  expect(failed.output).toMatch(says)
  expect(failed.output).toMatch(
    /Cloudflare refuses a rollback\. To return [^]*git checkout COMMIT && npm ci && npm run deploy/,
  )
  expect(failed.output).not.toContain('npx wrangler rollback')
  expect(worker()).toMatchObject({ migration_tag: 'v2', classes: ['TranscoderContainer', 'Listening', 'Rooms'] })
  const rollback = await wrangler(cloudflare, ['rollback', '--config', plain, '--message', 'x', '--yes'])
  expect(rollback.output).toContain('class lifecycle change')
  // wrangler alone sends all migrations again.
  const bare = await wrangler(cloudflare, ['deploy', '--config', plain, '--containers-rollout=none'])
  expect(bare.output).toContain('that is already depended on by existing Durable Objects')
  expect(worker().migration_tag).toBe('v2')

  account.brokenPath = ''
  // The account has more classes than a page of the list.
  const others = Array.from({ length: 120 }, (_, i) => `Other${i}`)
  account.workers.set('another', { vars: {}, secrets: {}, bindings: [], versions: [], served: [], classes: others })
  account.workers = new Map([...account.workers].toReversed())
  const back = await deployWith(plain)
  expect(back.output).toMatch(
    /the deployed Worker is newer \(v2\)\. Classes that stay without code: Rooms\. Their objects keep their data\n/,
  )
  expect(back.output).toContain('All is well.')
  expect(back.code).toBe(0)
  expect(worker()).toMatchObject({ migration_tag: 'v2', classes: ['TranscoderContainer', 'Listening', 'Rooms'] })
  const forth = await deployWith(withClass, '--skip-doctor')
  expect(forth.output).toMatch(/classes of Durable Objects: exist\n/)
  expect(forth.code).toBe(0)
})

test('an unknown location is refused', async () => {
  const { code, output } = await deploy(cloudflare, [...IMAGE, '--location', 'mars'])
  expect(output).toMatch(/FAILED: --location may be wnam/)
  expect(code).toBe(1)
})

test('an empty deployment creates nothing in the service, and then takes the secrets of the backup and of the metrics', async () => {
  // The service rejects the request that would create an organization.
  cloudflare.account.brokenPath = 'POST /v1/organization'
  const { code, output } = await deploy(cloudflare, [...CHECKED, '--empty'])
  expect(output).toMatch(
    /ta_root_[^]*The service is empty\. .*SIGNING_SECRET[^]*npm run restore -- --from \S+ --url http/,
  )
  expect(output).not.toMatch(/Studio|the doctor/)
  expect(code).toBe(0)

  const secrets = { ...cloudflare.account.workers.get('tonearm')!.secrets }
  for (const name of ['SIGNING_SECRET', 'METRICS_KEY']) {
    const put = startWrangler(cloudflare, ['secret', 'put', name])
    put.stdin.end('from the backup')
    expect(await put.ended).toMatchObject({ code: 0 })
    secrets[name] = 'from the backup'
    expect(cloudflare.account.workers.get('tonearm')?.secrets).toEqual(secrets)
  }
})

test('a first deployment whose doctor fails shows the keys, and says that there is no version to return to', async () => {
  cloudflare.account.brokenPath = '/v1/collection'
  const { code, output } = await deploy(cloudflare, CHECKED)
  expect(output).toMatch(/ta_root_[^]*Studio [^]*FAILED {2}key and database: 500[^]*This is the first version/)
  expect(code).toBe(1)
})

test('a file in which max_instances does not fit TRANSCODER_INSTANCES is refused', async () => {
  const { code, output } = await deploy(cloudflare, [...IMAGE, '--config', uneven])
  expect(output).toMatch(/FAILED: .*: max_instances of \[\[containers\]\] must be 8, TRANSCODER_INSTANCES plus one/)
  expect(code).toBe(1)
  const invalid = await deploy(cloudflare, [...IMAGE, '--var', 'TRANSCODER_INSTANCES:many'])
  expect(invalid.output).toMatch(/FAILED: TRANSCODER_INSTANCES must be a positive whole number, not many/)
  const nowhere = await deploy(cloudflare, ['--image', 'example/tonearm-transcoder:1'])
  expect(nowhere.output).toMatch(
    /FAILED: --image \S+ is neither a file nor an image with its registry, such as docker\.io/,
  )
})

test('the doctor tests each deployment, and a failed one is rolled back with the printed command', async () => {
  const { account } = cloudflare
  const first = await deploy(cloudflare, CHECKED)
  expect(first.output).toMatch(
    /Studio [^]*ok {6}transcode: [^]*ok {6}listening: a report was counted\n[^]*ok {6}delete the organization\n\nAll is well\.\n$/,
  )
  expect(first.code).toBe(0)
  expect(account.containers.values().next().value).toMatchObject({ max_instances: 6 })
  const worker = account.workers.get('tonearm')!
  const { REUSE_ANSWERS } = worker.vars

  // An older image runs, and the new version does not play.
  account.containers.values().next().value!.configuration.image = 'docker.io/example/tonearm-transcoder:0'
  account.brokenPath = '/v1/play_session/track'
  const changed = ['--config', plain, '--var', 'REUSE_ANSWERS:false', '--var', 'TRANSCODER_INSTANCES:8']
  const { code, output } = await deploy(cloudflare, [...CHECKED, ...changed], { ROOT_KEY: worker.secrets.ROOT_KEY })
  expect(output).toMatch(/FAILED {2}play view without a key: 500[^]*FAILED: The doctor found faults/)
  expect(code).toBe(1)
  expect(account.containers.values().next().value).toMatchObject({ max_instances: 9, rollout_steps: [20, 100] })
  expect(account.workers.get('tonearm')?.vars.REUSE_ANSWERS).toBe('false')

  const [, command = ''] = /\n {2}npx wrangler (rollback.*)\n/.exec(output) ?? []
  expect(await wrangler(cloudflare, command.split(' '))).toMatchObject({ code: 0 })
  expect(account.workers.get('tonearm')?.vars.REUSE_ANSWERS).toBe(REUSE_ANSWERS)

  const keyless = await deploy(cloudflare, [...CHECKED, '--containers-rollout', 'none'])
  expect(keyless.output).toMatch(/The doctor is skipped: set ROOT_KEY/)
  expect(keyless.changes.filter((change) => change.includes('containers'))).toEqual([])
  expect(keyless.code).toBe(0)
})

test('the doctor names a listening report that the statistics lack, and passes a service that has no reports yet', async () => {
  const stack = await joinStack()
  const lossy = await playAccount(stack, async (path, response) => {
    if (!path.startsWith('/v1/stats/')) return response
    const stats = (await response.json()) as { totals: object }
    return Response.json({ ...stats, totals: { ...stats.totals, visits: 0, muted_seconds: 0 } })
  })
  const failed = await runDoctor(lossy, stack.root_key)
  expect(failed.output).toMatch(
    /FAILED {2}listening: the statistics have 0 visits and 0 muted s\n.*\nok {6}clean up\nok {6}delete the organization\n\n1 failed\.\n$/,
  )
  expect(failed.code).toBe(1)
  await lossy.close()

  const old = await playAccount(stack, async (path, response) => {
    if (path !== '/v1/play_session/track') return response
    return Response.json({ ...((await response.json()) as object), heard_token: undefined })
  })
  const passed = await runDoctor(old, stack.root_key)
  expect(passed.output).toMatch(
    /\n- {7}listening: this version of the service has no listening reports; .*\nok {6}clean up\n/,
  )
  expect(passed.output).toMatch(/All is well\.\n$/)
  expect(passed.code).toBe(0)
  await old.close()
})
