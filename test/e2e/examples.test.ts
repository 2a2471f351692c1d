import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { OperationExample } from '../../scripts/build/openapi.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import { differences } from './examples_recorder.ts'
import { recordExamples } from './examples_scenario.ts'
import { joinStack, type Shared } from './shared_stack.ts'

/**
 * Repeats the requests of the examples in the API reference. `npm run examples` also writes them to the file
 * (docs/decisions/0099).
 */

const FILE = join(import.meta.dirname, '../../src/reference/examples.json')

let stack: Shared

beforeAll(async () => {
  stack = await joinStack()
})
afterAll(() => stack?.dispose())

test('every example has the fields that the service accepts and returns', async () => {
  const recorded = await recordExamples(stack.base_url, stack.root_key)
  if (process.env.RECORD_EXAMPLES) await writeFile(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
  const examples = JSON.parse(await readFile(FILE, 'utf8')) as Record<string, OperationExample>
  expect(Object.keys(examples)).toEqual(Object.keys(operations))
  expect(Object.keys(recorded)).toEqual(Object.keys(operations))
  for (const [name, example] of Object.entries(examples)) {
    expect(differences(example, recorded[name]!), name).toEqual([])
  }
})
