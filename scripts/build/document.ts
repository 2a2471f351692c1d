import { runInNewContext } from 'node:vm'

import { build } from 'esbuild'

import examples from '../../src/reference/examples.json' with { type: 'json' }
import { contractComments } from './contract_comments.ts'

const ENTRY = `export { openApiDocument } from './openapi.ts'
export { operations } from '../../src/contract/index.ts'`

/**
 * Builds the OpenAPI document. The contract is bundled with its comments, and runs in a separate context, because names of schemas are global in
 * zod, and this process may have loaded the contract without its comments.
 */
export async function buildDocument(): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'contract',
    target: 'es2024',
    logLevel: 'error',
    plugins: [contractComments],
  })
  const call = `JSON.stringify(contract.openApiDocument(contract.operations, ${JSON.stringify(examples)}))`
  const document = runInNewContext(`${outputFiles[0]!.text}\n${call}`, { TextEncoder, URL }) as string
  return JSON.parse(document) as Record<string, unknown>
}
