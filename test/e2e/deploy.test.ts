import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { MIGRATIONS_TABLE, readMigrations, triggersOf } from '../../scripts/shared/migrations.ts'
import { reset } from '../support/cloudflare/account.ts'
import type { Cloudflare } from '../support/cloudflare/server.ts'
import { aConfig, deploy, deployAsProcess, IMAGE, playAccount, root, startDeploy } from './deploy_setup.ts'
import { joinStack, type Shared } from './shared_stack.ts'

const migrations = readMigrations(join(root, 'drizzle'))
const all = migrations.map(({ name }) => name)
const staging = aConfig((text) => text.replaceAll('"tonearm', '"tonearm-staging'))

let cloudflare: Cloudflare
let stack: Shared

beforeAll(async () => {
  stack = await joinStack()
  cloudflare = await playAccount(stack)
})
afterAll(() => cloudflare?.close())

describe('a deployment reports missing prerequisites before it changes anything', () => {
  beforeEach(() => reset(cloudflare.account))

  async function expectRefusal(says: RegExp[], args = IMAGE, environment: NodeJS.ProcessEnv = {}, run = deploy) {
    const { code, output, changes } = await run(cloudflare, args, environment)
    for (const pattern of says) expect(output).toMatch(pattern)
    expect(changes).toEqual([])
    expect(code).toBe(1)
  }

  test('missing Docker, R2, Workers Paid and permissions, all at once', async () => {
    const { rules } = cloudflare.account
    rules.hasR2 = false
    rules.isPaid = false
    for (const permission of ['d1', 'queues', 'workers'] as const) rules.permissions.delete(permission)
    await expectRefusal(
      [
        /FAILED {2}Workers: Authentication error.*\n.*"Workers Scripts: Edit"/,
        /FAILED {2}R2: Please enable R2.*\n.*switch on R2 \(https:\/\/dash/,
        /FAILED {2}D1: .*\n.*"D1: Edit"/,
        /FAILED {2}Queues: .*\n.*"Queues: Edit"/,
        /FAILED {2}Containers: Unauthorized.*\n.*switch on Workers Paid \(https:\/\/dash/,
        /FAILED {2}Docker: .*\n.*start Docker, or name a published image: npm run deploy -- --image docker\.io/,
        /FAILED: Nothing was changed/,
      ],
      [],
      {},
      deployAsProcess,
    )
  })

  test('names that belong to another Worker, and a missing image', async () => {
    const { queues, workers } = cloudflare.account
    queues.set('tonearm-task', { queue_id: 'ab', consumer: 'shop' })
    workers.set('tonearm', { vars: {}, secrets: {}, bindings: [], versions: [], served: [], classes: [] })
    await expectRefusal(
      [
        /FAILED {2}queue tonearm-task: is consumed by the Worker shop/,
        /FAILED {2}Worker tonearm: is not Tonearm/,
        /FAILED {2}image docker.io\/example\/none:1: is not on Docker Hub\n.*publish it first/,
      ],
      ['--image', 'docker.io/example/none:1'],
    )
  })

  test('a database that other migrations created', async () => {
    const sql = new DatabaseSync(':memory:')
    sql.exec(MIGRATIONS_TABLE)
    sql.exec("insert into d1_migrations (name) values ('0000_init.sql'), ('0001_list_counts.sql')")
    cloudflare.account.databases.set('tonearm', {
      uuid: randomUUID(),
      sql,
      jurisdiction: null,
      location: undefined,
      replication: 'disabled',
    })
    await expectRefusal([/FAILED {2}database tonearm: was created by other migrations \(0001_list_counts\.sql\)/])
  })

  const cases: [string, RegExp, string[], NodeJS.ProcessEnv?][] = [
    [
      'the zone of a domain',
      /FAILED {2}address: audio.example.org belongs to no zone/,
      ['--domain', 'audio.example.org'],
    ],
    [
      'keys that R2 knows',
      /FAILED {2}keys of the bucket: R2 does not take the keys .*InvalidArgument/,
      [],
      { R2_ACCESS_KEY_ID: 'a', R2_SECRET_ACCESS_KEY: 'b' },
    ],
    ['the other key', /go together; one is not set/, [], { R2_ACCESS_KEY_ID: 'a' }],
    ['the right token', /FAILED: Cloudflare does not know this token/, [], { CLOUDFLARE_API_TOKEN: 'wrong' }],
    [
      'ROOT_KEY in CI, where a log would show it',
      /FAILED: In CI the key of the operator is given: .*ROOT_KEY\.\nNothing was changed/,
      [],
      { CI: 'true' },
    ],
    [
      'a long ROOT_KEY',
      /FAILED: ROOT_KEY has fewer than 24 characters.*\nNothing was changed/,
      [],
      { ROOT_KEY: 'admin' },
    ],
  ]
  test.each(cases)('%s', (_, says, args, environment) => expectRefusal([says], [...IMAGE, ...args], environment))

  test('a missing workers.dev subdomain, and an unknown option', async () => {
    cloudflare.account.rules.hasSubdomain = false
    const says = /FAILED {2}address: .*no workers.dev subdomain yet\n.*--domain/
    await expectRefusal([says], IMAGE, { PUBLIC_BASE_URL: '' })
    await expectRefusal([/FAILED: Unknown option '--confg'[^]*npm run deploy \[-- OPTIONS\]/], ['--confg', 'x.toml'])
  })
})

describe('a deployment', () => {
  const secrets = () => cloudflare.account.workers.get('tonearm')?.secrets ?? {}
  const names = (database: string, sql: string) =>
    cloudflare.account.databases
      .get(database)!
      .sql.prepare(sql)
      .all()
      .map(({ name }) => String(name))
  const triggers = (database: string) =>
    names(database, "select name from sqlite_master where type = 'trigger' order by name")
  const applied = (database: string) => names(database, 'select name from d1_migrations order by name')
  const forgetTriggers = () =>
    cloudflare.account.databases.get('tonearm')!.sql.exec("delete from d1_migrations where name like '0001%'")
  beforeAll(() => reset(cloudflare.account))

  test('keeps the new root key after a failed upload, and does not print it', async () => {
    cloudflare.account.rules.failedUploads = 1
    const { code, output } = await deploy(cloudflare, IMAGE)
    expect(output).toMatch(/FAILED: wrangler deploy failed; .*run this again\. The new ROOT_KEY is kept/)
    expect(output).not.toContain('ta_root_')
    expect(code).toBe(1)
    expect(cloudflare.account.workers.size).toBe(0)
  })

  test('resumes after the failure and prints the service, the key, the organization and the link to the studio', async () => {
    const { code, output, changes } = await deployAsProcess(cloudflare, IMAGE, { TONEARM_BUILT: '' })
    expect(output).toMatch(/^dist\/public: \d+ files changed$/m)
    expect(output).toContain(
      `ROOT_KEY, shown this once; it creates organizations. Keep it:\n\n  ${secrets().ROOT_KEY}\n`,
    )
    expect(code).toBe(0)
    const [, link, key] = /Studio +(http\S+)\/#key=(ta_sk_\w+)/.exec(output) ?? []
    expect(link).toBe(cloudflare.url)
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${stack.base_url}/v1/collection`, { headers })).status).toBe(200)
    expect(changes.filter((change) => /buckets|POST \/queues$|\/d1\//.test(change))).toEqual([])
    const { queues, buckets, containers, workers } = cloudflare.account
    expect(triggers('tonearm')).toEqual([...triggersOf(migrations).keys()].toSorted())
    expect([...queues.values()].map(({ consumer }) => consumer)).toEqual(Array(5).fill('tonearm'))
    expect(buckets.get('tonearm-media')?.rules).toMatchObject([{ rules: [{ prefix: 'uploads/' }] }])
    expect([...containers.values()]).toMatchObject([{ configuration: { image: IMAGE[1] } }])
    expect(workers.get('tonearm')?.vars).toMatchObject({ S3_BUCKET: 'tonearm-media', PUBLIC_BASE_URL: cloudflare.url })
    expect(secrets()).toMatchObject(cloudflare.account.pair)
  })

  test('of a new version applies the new migrations, restores lost triggers, and keeps secrets, address and domain', async () => {
    const before = { ...secrets() }
    cloudflare.account.domains.set('audio.example.com', 'tonearm')
    cloudflare.account.hasOrganization = true
    cloudflare.account.workers.get('tonearm')!.vars.TRANSCODER_URL = 'https://transcoder.example.com'
    cloudflare.account.databases
      .get('tonearm')!
      .sql.exec('drop trigger events_webhooks; drop trigger tracks_count_order')
    const { code, output, changes } = await deploy(cloudflare, [...IMAGE, '--var', 'TRANSCODER_URL:'], {
      PUBLIC_BASE_URL: '',
      ROOT_KEY: before.ROOT_KEY,
    })
    expect(output).toMatch(/lacks the triggers \w+, \w+; they are created again/)
    expect(output).not.toMatch(/ta_root_|ta_sk_/)
    expect(output).toContain('--domain audio.example.com')
    expect(code).toBe(0)
    expect(triggers('tonearm')).toEqual([...triggersOf(migrations).keys()].toSorted())
    expect(applied('tonearm')).toEqual(all)
    expect(secrets()).toEqual(before)
    // A variable that is passed as an empty string becomes empty; all other variables keep their values.
    expect(cloudflare.account.workers.get('tonearm')?.vars).toMatchObject({
      PUBLIC_BASE_URL: cloudflare.url,
      TRANSCODER_URL: '',
    })
    expect(changes.filter((change) => /^POST \/(r2|queues$)/.test(change))).toEqual([])
  })

  test('alongside another deployment has separate resources, and imports a migration that D1 would split incorrectly', async () => {
    const { workers, databases, buckets, queues, rules } = cloudflare.account
    const before = structuredClone(workers.get('tonearm'))
    rules.refusedTriggers = 1
    const { code, output } = await deploy(cloudflare, [...IMAGE, '--config', staging])
    expect(output).toMatch(
      /D1 does not take 0001_triggers.sql this way \(incomplete input: SQLITE_ERROR.*\); it is imported/,
    )
    expect(code).toBe(0)
    expect(triggers('tonearm-staging')).toEqual([...triggersOf(migrations).keys()].toSorted())
    expect(applied('tonearm-staging')).toEqual(all)
    expect(workers.get('tonearm')).toEqual(before)
    const made = [workers, databases, buckets, queues].map(
      (map) => [...map.keys()].filter((name) => name.includes('staging')).length,
    )
    expect(made).toEqual([1, 1, 1, 5])
    expect(workers.get('tonearm-staging')?.vars.S3_BUCKET).toBe('tonearm-staging-media')
  })

  test('leaves the Worker unchanged if D1 rejects a migration both as a query and as an import', async () => {
    const before = structuredClone([...cloudflare.account.workers])
    Object.assign(cloudflare.account.rules, { refusedTriggers: 1, refusesImports: true })
    forgetTriggers()
    const { code, output } = await deploy(cloudflare, IMAGE)
    expect(output).toMatch(/FAILED: D1 refuses 0001_triggers.sql, also as an import; .* The Worker was not changed/)
    expect(code).toBe(1)
    expect([...cloudflare.account.workers]).toEqual(before)
  })
})

test('a logged-in user is prompted for the keys of the bucket, and the input is not displayed', async () => {
  reset(cloudflare.account)
  const { token, pair } = cloudflare.account
  const home = mkdtempSync(join(tmpdir(), 'tonearm-login-'))
  const login = `oauth_token = "${token}"\nexpiration_time = "2999-01-01T00:00:00.000Z"\nrefresh_token = "r"\nscopes = []\n`
  mkdirSync(join(home, '.wrangler/config'), { recursive: true })
  writeFileSync(join(home, '.wrangler/config/default.toml'), login)
  try {
    // The program `script` of util-linux provides a terminal.
    const command = [
      'script',
      '-qec',
      `'${process.execPath}' scripts/deploy.ts --dry-run ${IMAGE.join(' ')}`,
      '/dev/null',
    ]
    const environment = { CLOUDFLARE_API_TOKEN: '', XDG_CONFIG_HOME: home, HOME: home }
    const { stdin, output, ended } = startDeploy(cloudflare, [], environment, command)
    const answer = async (question: string, times: number, text: string) => {
      await expect.poll(() => output().split(question).length - 1, { timeout: 90_000 }).toBe(times)
      stdin.write(`${text}\n`)
    }
    await answer('Access Key ID: ', 1, 'not a key')
    await answer('Access Key ID: ', 2, pair.R2_ACCESS_KEY_ID)
    await answer('Secret Access Key (not shown): ', 1, pair.R2_SECRET_ACCESS_KEY)
    const { code, output: transcript, changes } = await ended
    expect(transcript).toMatch(/That is not 32 digits[^]*keys of the bucket: to be set[^]*Nothing was changed/)
    expect(transcript).not.toContain(pair.R2_SECRET_ACCESS_KEY)
    expect(changes).toEqual([])
    expect(code).toBe(0)
  } finally {
    rmSync(home, { recursive: true })
  }
})
