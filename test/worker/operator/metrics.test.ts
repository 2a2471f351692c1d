import { parser } from '@prometheus-io/lezer-promql'
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import parse from 'parse-prometheus-text-format'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import alarms from '../../../docs/alarms.md?raw'
import dashboard from '../../../docs/grafana.json'
import page from '../../../docs/metrics.md?raw'
import worker from '../../../src/index.ts'
import { anOrganization, expectError, query } from '../support/api.ts'
import { aTrackWithJob, stopTime } from '../support/fixtures.ts'
import { errorEvent, eventStream, startTranscoder } from '../support/transcoder.ts'
import { anEndpoint, insertEvents, UNREACHABLE_URL } from '../support/webhooks.ts'

/** `GET /v1/system/metrics`, and everything that names its metrics: the Grafana dashboard, the alarm rules and the documentation. */

const METRICS_KEY = 'the-metrics-key-of-this-test'
const bindings: Env = { ...env, METRICS_KEY }
const path = '/v1/system/metrics'
const serving = () => Response.json({ ok: true })

/** Scrapes the metrics. Returns the text and the samples as `name{label="value"}` with their values. */
async function scrape(changed: Partial<Env> = {}) {
  const request = new Request(`https://tonearm.test${path}`, { headers: { authorization: `Bearer ${METRICS_KEY}` } })
  const response = await worker.fetch(request, { ...bindings, ...changed }, createExecutionContext())
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const samples = new Map<string, number>()
  for (const { name, metrics } of parse(text)) {
    for (const { value, labels } of metrics) {
      const pairs = Object.entries(labels ?? {}).map(([label, text]) => `${label}="${text}"`)
      samples.set(`${name.replace('tonearm_', '')}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''}`, Number(value))
    }
  }
  return { response, text, samples: Object.fromEntries(samples) }
}

beforeEach(() => {
  startTranscoder({ health: serving })
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

/** Creates every state that a metric describes. */
async function aBusyService() {
  startTranscoder({ health: serving, transcode: () => eventStream(errorEvent('disk_full', 'It did not work')) })
  const failed = await aTrackWithJob()
  await failed.run()
  await (await aTrackWithJob()).changeJob({ created_at: Date.now() - 90_000, slot: 0, holder: 'another' })
  await aTrackWithJob()
  const { id, key } = await anOrganization()
  await anEndpoint(key, { url: UNREACHABLE_URL })
  await insertEvents(id, ['track:1'], ['track:2'])
  // A real sweep would start the job that waits.
  const report = { queries: 12, left: ['events'], failed: [], failing_since: null }
  await query('insert into listening_folds values (?, 0, 0, 5000)', id)
  await query(`insert into heartbeats (name, at) values ('event', ?)`, Date.now())
  await query(`insert into heartbeats (name, at, report) values ('sweep', ?, ?)`, Date.now(), JSON.stringify(report))
}

describe('the metrics', () => {
  it('are text that a Prometheus parser accepts, with the state of the service', async () => {
    stopTime()
    await aBusyService()
    const now = Date.now()
    const { response, text, samples } = await scrape()
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(samples).toMatchObject({
      'failing{part="database"}': 0,
      'failing{part="database_full"}': 0,
      'failing{part="sweep"}': 0,
      'failing{part="transcoder"}': 0,
      'failing{part="media"}': 0,
      database_limit_bytes: Number(env.DATABASE_LIMIT_BYTES),
      'jobs{kind="transcode",state="open"}': 2,
      'jobs{kind="transcode",state="failed"}': 1,
      'job_oldest_age_seconds{kind="transcode"}': 90,
      'failures{code="disk_full"}': 1,
      'retryable_failures{code="disk_full"}': 1,
      transcode_queued: 1,
      transcode_slots: 1,
      transcode_slots_busy: 1,
      listening_largest_bytes: 5000,
      listening_limit_bytes: 10e9,
      last_sweep_queries: 12,
      last_sweep_left: 1,
      webhook_deliveries_due: 2,
      'webhook_endpoints{state="active"}': 1,
      last_sweep_timestamp_seconds: now / 1000,
    })
    for (const line of text.trim().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) tonearm_[a-z_]+ .+|tonearm_[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? [\d.e+-]+)$/)
    }
  })

  it('of the database are missing when it fails, and the others stay', async () => {
    const answer = async () => {
      throw new Error('D1_ERROR: D1 DB is overloaded.')
    }
    const statement = { bind: () => statement, raw: answer, all: answer, run: answer }
    const { samples } = await scrape({ DB: { prepare: () => statement, batch: answer } as unknown as D1Database })
    expect(samples).toMatchObject({ 'failing{part="database"}': 1, transcode_slots: 1 })
    expect(Object.keys(samples).filter((name) => /jobs|webhook|queued|busy/.test(name))).toEqual([])
  })

  it('can be read with METRICS_KEY only, which opens nothing else', async () => {
    for (const key of [undefined, env.ROOT_KEY, `${METRICS_KEY}x`])
      await expectError(401, 'unauthorized', 'GET', path, { key, bindings })
    for (const other of ['/v1/system', '/v1/organization', '/v1/collection'])
      await expectError(401, 'unauthorized', 'GET', other, { key: METRICS_KEY, bindings })
    await expectError(503, 'not_configured', 'GET', path, { key: METRICS_KEY, bindings: { ...env, METRICS_KEY: '' } })
  })
})

describe('each metric', () => {
  /** The names of the metrics in a PromQL expression. Throws if it is not valid PromQL. */
  function metricsIn(expression: string): string[] {
    const names: string[] = []
    parser
      .configure({ strict: true })
      .parse(expression)
      .iterate({
        enter: ({ name, from, to }) => {
          if (name === 'Identifier') names.push(expression.slice(from, to))
        },
      })
    return names.filter((name) => name.startsWith('tonearm_'))
  }
  const rows = [...page.matchAll(/^\| `(tonearm_\w+)` +\| ([^|]*?) *\|/gm)]
  const labels = new Map(rows.map(([, name, text]) => [name!, text!]))
  const documented = [...labels.keys()]
  const rules = [...alarms.matchAll(/^ +expr: (.+)$/gm)].map(([, text]) => text!)

  it('is documented, and no other', async () => {
    await aBusyService()
    const { text } = await scrape()
    const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    expect(new Set(names)).toEqual(new Set(documented))
  })

  it('in a query of the dashboard exists, and every metric is in the dashboard', () => {
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const used = new Set(expressions.flatMap((text) => metricsIn(text.replaceAll('$instance', '.*'))))
    expect([...used].filter((name) => !documented.includes(name))).toEqual([])
    expect(documented.filter((name) => !used.has(name))).toEqual([])
  })

  it('in an alarm rule exists', () => {
    expect(rules.length).toBeGreaterThan(5)
    const used = rules.map(metricsIn)
    expect(used.every((names) => names.length > 0)).toBe(true)
    expect(used.flat().filter((name) => !documented.includes(name))).toEqual([])
  })

  it('in an alarm rule has the same labels as the others, unless the rule names the labels to match', () => {
    const compared = rules.filter(
      (text) => /\b(?:and|unless|on)\b|[-+*/<>=] *tonearm_/.test(text) && !/\bon \(/.test(text),
    )
    expect(compared.length).toBeGreaterThan(1)
    const mixed = compared.filter((text) => new Set(metricsIn(text).map((name) => labels.get(name))).size > 1)
    expect(mixed).toEqual([])
  })
})
