import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'

import { build } from 'esbuild'

import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import examples from '../../src/reference/examples.json' with { type: 'json' }
import { root } from '../shared/settings.ts'
import { contractComments } from './contract_comments.ts'

const ENTRY = `export { openApiDocument } from './openapi.ts'
export { clientOperations } from '../../src/contract/client_operations.ts'`

/** Returns the titles of the pages of `docs` that explain operations. */
async function guideTitles(): Promise<Record<string, string>> {
  const names = [...new Set(Object.values(operations).map(({ guide }) => guide))]
  const texts = names.map((name) => readFile(join(root, `docs/${name}.md`), 'utf8'))
  const titles = (await Promise.all(texts)).map((text) => text.split('\n')[0]!.replace('# ', ''))
  return Object.fromEntries(names.map((name, at) => [name, titles[at]!]))
}

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
  const call = `JSON.stringify(contract.openApiDocument(contract.clientOperations, ...${JSON.stringify([examples, await guideTitles()])}))`
  const document = runInNewContext(`${outputFiles[0]!.text}\n${call}`, { TextEncoder, URL }) as string
  return JSON.parse(document) as Record<string, unknown>
}
