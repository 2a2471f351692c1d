import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import type { ELEMENTS } from './build.ts'

/**
 * What the elements weigh on the wire, after `npm run build`: gzip at its default level, as most servers and CDNs send it, of the entry
 * and of every module that it imports. And the Worker's bundle, gzipped: an isolate that starts reads all of it. Fails above a budget.
 */

/** Bytes of dist/worker/index.js, which a dry run of `wrangler deploy` writes. */
const WORKER_BUDGET = 107_000
/** Bytes. */
const BUDGETS: Record<(typeof ELEMENTS)[number], number> = { player: 45_000, uploader: 40_000, waveform: 4_000 }

const directory = join(import.meta.dirname, '../dist/public')

/** A module and all that it imports, as paths below dist/public. */
function modulesOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const code = readFileSync(join(directory, path), 'utf8')
  for (const [, specifier] of code.matchAll(/(?:from|import)\s*\(?['"](\.{1,2}\/[^'"]+\.js)['"]/g)) {
    modulesOf(join(path, '..', specifier!), found)
  }
  return found
}

function judge(name: string, bytes: number, budget: number, more = ''): void {
  const ok = bytes > 0 && bytes <= budget
  console.log(`${ok ? 'ok    ' : 'TOO BIG'} ${name}: ${bytes} of ${budget} bytes${more}`)
  if (!ok) process.exitCode = 1
}

for (const [name, budget] of Object.entries(BUDGETS)) {
  const modules = [...modulesOf(`elements/${name}.js`)]
  const bytes = modules.reduce((sum, path) => sum + gzipSync(readFileSync(join(directory, path))).length, 0)
  judge(name, modules.length > 1 ? bytes : 0, budget, `, ${modules.length} modules`)
}
judge('worker', gzipSync(readFileSync(join(directory, '../worker/index.js'))).length, WORKER_BUDGET)
