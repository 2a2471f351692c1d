import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'

import { buildDocument } from '../build/document.ts'

/** Checks the OpenAPI document with the recommended rules of Redocly and of Spectral. Each rule that is off has its reason. */

const document = await buildDocument()

const redocly = await createConfig({
  extends: ['recommended'],
})
const problems = await lintFromString({
  source: JSON.stringify(document),
  absoluteRef: 'openapi.json',
  config: redocly,
})
const spectral = new spectralCore.Spectral()
spectral.setRuleset({
  // The types of the two packages differ.
  extends: [[spectralRulesets.oas as unknown as RulesetDefinition, 'recommended']],
  rules: {
    // The contact for a service is its operator, whom the document does not know.
    'info-contact': 'off',
  },
})
const results = await spectral.run(document)

const faults = [
  ...problems.map(({ ruleId, message, location }) => `Redocly ${ruleId}: ${message} ${location[0]?.pointer ?? ''}`),
  ...results.map(({ code, message, path }) => `Spectral ${code}: ${message} #/${path.join('/')}`),
]
for (const fault of faults) console.error(fault)
console.log(`OpenAPI document: ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0
