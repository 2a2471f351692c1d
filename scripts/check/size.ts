import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { build } from 'esbuild'

import type { ELEMENTS } from '../build.ts'

/**
 * Checks sizes after `npm run build`, and fails if one exceeds its budget. An element is measured as most servers and CDNs send it: its
 * module, which must have no static imports, compressed with gzip at the default level. Languages other than English are loaded on demand and do not
 * count. Also checks the Worker's bundle, gzipped, which an isolate reads when it starts, and the minified code in it that runs at start-up
 * (docs/decisions/0029).
 */

/** Maximum size of dist/worker/index.js in bytes. A dry run of `wrangler deploy` writes this file. */
const WORKER_BUDGET = 224_450
/** Maximum size in bytes of the code that runs when an isolate starts. None of this code may come from a package. */
const START_BUDGET = 50_800
/** Maximum size in bytes of `@tonearm/client` in the bundle of a page. */
const CLIENT_BUDGET = 4_000
/** Maximum size in bytes of the module that joins the tracks of an album (docs/decisions/0084). */
const GAPLESS_BUDGET = 2_700
/** Maximum size in bytes of the module that reports what was heard (docs/decisions/0103). */
const REPORT_BUDGET = 2_850
/** Maximum size of each element in bytes. */
const BUDGETS: Record<(typeof ELEMENTS)[number], number> = {
  player: 26_200,
  uploader: 22_000,
  waveform: 4_000,
  embed: 1_500,
  frame: 1_500,
  share: 500,
}

const directory = join(import.meta.dirname, '../../dist/public')

const BUNDLED = {
  absWorkingDir: join(import.meta.dirname, '../..'),
  bundle: true,
  minify: true,
  format: 'esm',
} as const

/** Returns a module and its static imports, as paths below dist/public. */
function modulesOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const code = readFileSync(join(directory, path), 'utf8')
  for (const [, specifier] of code.matchAll(/(?:from|import)\s*['"](\.{1,2}\/[^'"]+\.js)['"]/g)) {
    modulesOf(join(path, '..', specifier!), found)
  }
  return found
}

function judge(name: string, bytes: number, budget: number, note = ''): void {
  const ok = bytes > 0 && bytes <= budget
  console.log(`${ok ? 'ok    ' : 'TOO BIG'} ${name}: ${bytes} of ${budget} bytes${note}`)
  if (!ok) process.exitCode = 1
}

for (const [name, budget] of Object.entries(BUDGETS)) {
  const modules = [...modulesOf(`elements/${name}.js`)]
  const bytes = modules.reduce((sum, path) => sum + gzipSync(readFileSync(join(directory, path))).length, 0)
  // A page must load an element with one request.
  judge(name, modules.length === 1 ? bytes : 0, budget, `, ${modules.length} modules`)
}
for (const [name, budget] of Object.entries({ gapless: GAPLESS_BUDGET, report: REPORT_BUDGET })) {
  const file = readdirSync(join(directory, 'assets')).find((path) => new RegExp(`^${name}-.*\\.js$`).test(path))!
  judge(`${name}, on demand`, gzipSync(readFileSync(join(directory, 'assets', file))).length, budget)
}
const client = await build({ ...BUNDLED, entryPoints: ['packages/client/index.ts'], write: false })
judge('client without engines', gzipSync(client.outputFiles[0]!.contents).length, CLIENT_BUDGET)
judge('worker', gzipSync(readFileSync(join(directory, '../worker/index.js'))).length, WORKER_BUDGET)

const { metafile } = await build({
  ...BUNDLED,
  entryPoints: ['src/index.ts'],
  outdir: 'dist/worker',
  splitting: true,
  external: ['cloudflare:*'],
  write: false,
  metafile: true,
})

/** Returns the source files of an output and of its static imports, with their sizes in bytes. */
function sourcesOf(path: string, found = new Map<string, number>()): Map<string, number> {
  const { inputs, imports } = metafile.outputs[path]!
  for (const [source, { bytesInOutput }] of Object.entries(inputs)) found.set(source, bytesInOutput)
  for (const { path: next, kind } of imports) {
    if (kind === 'import-statement' && metafile.outputs[next]) sourcesOf(next, found)
  }
  return found
}

const sources = sourcesOf('dist/worker/index.js')
const packages = [...sources].filter(([source, bytes]) => bytes > 0 && source.startsWith('node_modules'))
for (const [source] of packages) console.error(`${source} runs when an isolate starts`)
const startBytes = [...sources.values()].reduce((sum, bytes) => sum + bytes, 0)
judge('worker, run at the start', packages.length > 0 ? 0 : startBytes, START_BUDGET, `, ${sources.size} modules`)
