import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

import { build } from 'esbuild'

import type { ELEMENTS } from '../shared/elements.ts'

/**
 * Prints what browsers and isolates load, in bytes, with the difference to the base commit. Fails only above a ceiling, and the message of
 * the commit that raises one says why (docs/decisions/0107). Runs after `npm run build` and a dry run of `wrangler deploy`.
 *
 * An element is measured as most servers and CDNs send it: its module, which must have no static imports, compressed with gzip at the default
 * level. Languages other than English are loaded on demand and do not count. The Worker's bundle is measured gzipped, and the code in it that
 * runs when an isolate starts minified (docs/decisions/0029).
 *
 * The base commit is `SIZE_BASE`, or else HEAD if files are changed, or else the commit before HEAD.
 */

type Element = (typeof ELEMENTS)[number]
type Name = Element | 'gapless' | 'report' | 'client' | 'worker' | 'start'

const CEILINGS: Record<Name, number> = {
  player: 28_672,
  uploader: 23_400,
  waveform: 4_300,
  embed: 1_000,
  frame: 1_300,
  share: 400,
  gapless: 2_850,
  report: 3_000,
  client: 4_200,
  worker: 276_000,
  start: 57_100,
}
const MEANING: Partial<Record<Name, string>> = {
  gapless: 'loaded on demand: joins the tracks of an album',
  report: 'loaded on demand: reports what was heard',
  client: '@tonearm/client without engines, in the bundle of a page',
  worker: 'gzipped bundle',
  start: 'code of the Worker that runs when an isolate starts',
}

/** Files that are loaded for the first request of their kind, and must not load a package (docs/decisions/0113). */
const FIRST = [
  'src/http/api/heard.ts',
  'src/listening/engine.ts',
  'src/http/pages/cover.ts',
  'src/http/pages/share_file.ts',
]

type Measured = { sizes: Record<string, number>; faults: string[] }

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Measures the output of a build in `directory`. The faults are rules that no size can express. */
async function measure(directory: string): Promise<Measured> {
  const built = join(directory, 'dist/public')
  const sizes: Record<string, number> = {}
  const faults: string[] = []
  const gzipped = (path: string) => gzipSync(readFileSync(path)).length
  for (const file of readdirSync(join(built, 'elements')).filter((path) => path.endsWith('.js'))) {
    sizes[file.slice(0, -3)] = gzipped(join(built, 'elements', file))
    if (/(?:from|import)\s*['"]\.{1,2}\//.test(readFileSync(join(built, 'elements', file), 'utf8')))
      faults.push(`elements/${file} has a static import, so a page needs two requests to load it`)
  }
  for (const file of readdirSync(join(built, 'assets'))) {
    const name = /^(gapless|report)-.*\.js$/.exec(file)?.[1]
    if (name) sizes[name] = gzipped(join(built, 'assets', file))
  }
  const options = { absWorkingDir: directory, bundle: true, minify: true, format: 'esm', write: false } as const
  const client = await build({ ...options, entryPoints: ['packages/client/index.ts'] })
  sizes.client = gzipSync(client.outputFiles[0]!.contents).length
  sizes.worker = gzipped(join(directory, 'dist/worker/index.js'))
  const { metafile } = await build({
    ...options,
    entryPoints: ['src/index.ts'],
    outdir: 'dist/worker',
    splitting: true,
    external: ['cloudflare:*'],
    metafile: true,
  })
  const sources = sourcesOf(metafile.outputs, 'dist/worker/index.js')
  const findPackages = (found: Map<string, number>, when: string) => {
    for (const [source, bytes] of found)
      if (bytes > 0 && source.includes('node_modules')) faults.push(`${source} runs ${when}`)
  }
  findPackages(sources, 'when an isolate starts')
  for (const entryPoint of FIRST) {
    const output = Object.keys(metafile.outputs).find((path) => metafile.outputs[path]!.entryPoint === entryPoint)
    if (output) findPackages(sourcesOf(metafile.outputs, output), `before the first response of ${entryPoint}`)
    else faults.push(`${entryPoint} is not loaded by import()`)
  }
  sizes.start = [...sources.values()].reduce((sum, bytes) => sum + bytes, 0)
  return { sizes, faults }
}

type Outputs = Awaited<ReturnType<typeof build<{ metafile: true }>>>['metafile']['outputs']

/** Returns the source files of an output and of its static imports, with their sizes in bytes. */
function sourcesOf(outputs: Outputs, path: string, found = new Map<string, number>()): Map<string, number> {
  const { inputs, imports } = outputs[path]!
  for (const [source, { bytesInOutput }] of Object.entries(inputs)) found.set(source, bytesInOutput)
  for (const { path: next, kind } of imports) {
    if (kind === 'import-statement' && outputs[next]) sourcesOf(outputs, next, found)
  }
  return found
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()

/** Returns the id of the base commit, or null where Git or the commit is missing, as in a shallow clone. */
function baseCommit(): string | null {
  try {
    const isChanged = git('status', '--porcelain') !== ''
    return git('rev-parse', '--verify', `${process.env.SIZE_BASE || (isChanged ? 'HEAD' : 'HEAD~1')}^{commit}`)
  } catch {
    return null
  }
}

/** Returns the sizes of a commit. Builds it once, with the installed packages, and remembers the result. */
async function sizesOf(commit: string): Promise<Measured['sizes']> {
  const remembered = join(root, '.cache/sizes', `${commit}.json`)
  try {
    return JSON.parse(readFileSync(remembered, 'utf8')) as Measured['sizes']
  } catch {
    // Not measured before.
  }
  const directory = join(root, '.cache/sizes', `${commit}-${process.pid}`)
  mkdirSync(directory, { recursive: true })
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-xf', '-'], { cwd: directory, input: archive })
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    await run(process.execPath, ['scripts/build.ts'], { cwd: directory })
    const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')
    await run(
      process.execPath,
      [wrangler, ...'deploy --dry-run --outdir dist/worker --containers-rollout=none'.split(' ')],
      {
        cwd: directory,
      },
    )
    const { sizes } = await measure(directory)
    writeFileSync(remembered, JSON.stringify(sizes))
    return sizes
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (!existsSync(join(root, 'dist/worker/index.js'))) {
  console.error('There is no build to measure: npm run check -- build deploy sizes')
  process.exit(1)
}
const commit = baseCommit()
let reason = 'there is no base commit'
const base =
  commit &&
  (await sizesOf(commit).catch((error: Error) => {
    reason = `${commit.slice(0, 8)} could not be built: ${error.message.split('\n')[0]}`
    return null
  }))
const { sizes, faults } = await measure(root)
for (const [name, ceiling] of Object.entries(CEILINGS) as [Name, number][]) {
  const bytes = sizes[name] ?? 0
  const isFine = bytes > 0 && bytes <= ceiling
  const change = base ? `${bytes - (base[name] ?? 0)}`.replace(/^(?=\d)/, '+') : ''
  const meaning = MEANING[name] ? `  ${MEANING[name]}` : ''
  console.log(
    `${isFine ? 'ok    ' : 'FAILED'} ${name.padEnd(9)}${`${bytes}`.padStart(7)}${change.padStart(7)}  of at most ${ceiling}${meaning}`,
  )
  if (!isFine) process.exitCode = 1
}
console.log(base ? `       difference to ${commit.slice(0, 8)}` : `       no difference: ${reason}`)
for (const fault of faults) {
  console.log(`FAILED ${fault}`)
  process.exitCode = 1
}
