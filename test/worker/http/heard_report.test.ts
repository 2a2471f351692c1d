import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { MAX_HEARD_BYTES } from '../../../src/contract/facts.ts'
import { HeardReport } from '../../../src/contract/heard.ts'
import { ApiError } from '../../../src/core/errors.ts'
import { readReport } from '../../../src/http/api/heard_report.ts'
import { parseJson } from '../../../src/http/api/json_body.ts'
import { countReport } from '../../../src/resources/play/heard.ts'
import { verifyHeardToken } from '../../../src/resources/play/heard_grant.ts'
import { randomFrom } from '../../support/random.ts'
import { call } from '../support/api.ts'
import { aListener } from '../support/heard.ts'
import { fuzzedReports } from '../support/heard_fuzz.ts'

/** The parser of listening reports equals their schema (docs/decisions/0113). */

describe('the parser without zod', () => {
  it('accepts the same of 10,000 fuzzed reports as the schema, and returns the same values', () => {
    const texts = fuzzedReports(randomFrom(1), 10_000, '00011111-1111-4111-8111-11111111111a')
    const values = texts.map((text) => JSON.parse(text) as unknown)
    const expected = values.map((value) => HeardReport.safeParse(value).data ?? null)
    const read = values.map((value) => readReport(value))
    const differing = texts.filter((_, at) => JSON.stringify(read[at]) !== JSON.stringify(expected[at]))
    expect(differing.slice(0, 5)).toEqual([])
    expect(expected.filter((report) => report === null).length).toBeGreaterThan(3000)
    expect(expected.filter((report) => report !== null).length).toBeGreaterThan(5000)
  })

  it('gives 300 fuzzed reports the response and the counts that they have with the schema', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const [sender, other] = [await aListener(), await aListener()]
    const bindings = { ...env, CLIENT_IP_HEADER: '' }
    const grant = await verifyHeardToken(env, other.path.split('/').at(-1)!, Date.now())
    const reporter = { grant, address: '', country: null, site: null }
    /** Counts a report that is parsed with the schema, for the other listener. Returns the status, the code and the reason of its response. */
    const answerOf = async (text: string) => {
      const bytes = new TextEncoder().encode(text)
      if (bytes.length > MAX_HEARD_BYTES) return [413, 'payload_too_large']
      try {
        const { data, error } = HeardReport.safeParse(parseJson(bytes, 'application/json'))
        const isUnknownField = error?.issues.every(({ code }) => code === 'unrecognized_keys')
        if (error) return [400, isUnknownField ? 'unknown_field' : 'invalid_request']
        await countReport(env, reporter, data)
        return [204]
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return [error.status, error.code, error.details.reason, error.message]
      }
    }
    const kinds = new Set<string>()
    const mark = '00011111-1111-4111-8111-111111111111'
    for (const text of fuzzedReports(randomFrom(2), 300, mark)) {
      // Reports that arrive at the same time wait for each other.
      vi.setSystemTime(Date.now() + 1000)
      const { status, body } = await call('POST', sender.path, {
        body: text.replaceAll(mark, sender.track_id),
        bindings,
      })
      const expected = await answerOf(text.replaceAll(mark, other.track_id))
      const answer = [status, body?.code, body?.reason, body?.message].slice(0, expected.length)
      expect([text, ...answer]).toEqual([text, ...expected])
      kinds.add(answer.slice(0, 3).filter(Boolean).join(' '))
    }
    const common = ['204', '400 invalid_request', '400 invalid_request ranges', '400 unknown_field']
    expect([...kinds].toSorted()).toEqual(expect.arrayContaining(common))
    expect(await sender.sums()).toEqual(await other.sums())
    expect(await sender.sums('track')).toEqual(await other.sums('track'))
  })
})
