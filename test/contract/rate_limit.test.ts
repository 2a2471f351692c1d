import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import {
  API_RATE,
  AUDIENCE_RATE,
  HEARD_ORGANIZATION_RATE,
  HEARD_RATE,
  MISS_RATE,
  PLAY_RATE,
} from '../../src/contract/facts.ts'

it('the rates that GET /v1/limits names are those of the rate limits in wrangler.toml, per minute', () => {
  const toml = readFileSync('wrangler.toml', 'utf8')
  const limits = toml.matchAll(
    /\[\[ratelimits\]\]\nname = "(\w+)_LIMIT"\nnamespace_id = "\d+"\nsimple = \{ limit = ([\d_]+), period = 60 \}/g,
  )
  const rates = Object.fromEntries(Array.from(limits, ([, name, limit]) => [name, Number(limit!.replaceAll('_', ''))]))
  expect(rates).toEqual({ API_RATE, AUDIENCE_RATE, HEARD_ORGANIZATION_RATE, HEARD_RATE, MISS_RATE, PLAY_RATE })
})
