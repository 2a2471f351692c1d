import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { build } from 'esbuild'

import { buildPublic } from '../../scripts/build.ts'
import { onEnd } from './cleanup.ts'

/** Source code of each module by name. The first module is the entry point. */
export type Bundle = Record<string, string>

const root = join(import.meta.dirname, '../..')

async function run(command: string, args: string[], cwd: string): Promise<void> {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG: 'error' }
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  onEnd(() => child.kill())
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ${args.slice(0, 2).join(' ')} ended with ${code} in ${cwd}`)
}

/** Builds the Worker from this checkout or another one, as `npm run deploy` would upload it. */
export async function bundleWorker(checkout = root): Promise<Bundle> {
  await (checkout === root ? buildPublic() : run('npm', ['run', 'build'], checkout))
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-bench-bundle-'))
  onEnd(() => rm(directory, { recursive: true, force: true }))
  const flags = ['deploy', '--dry-run', '--containers-rollout=none', '--outdir', directory]
  await run('wrangler', flags, checkout)
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.js'))
  const ordered = names.toSorted((a, b) => Number(b === 'index.js') - Number(a === 'index.js'))
  const modules = ordered.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(modules))
}

/** Bundles a small Worker that is part of the bench. */
export async function bundleScript(path: string, name = 'index.js', external: string[] = []): Promise<Bundle> {
  const options = { bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error' } as const
  const { outputFiles } = await build({ ...options, entryPoints: [join(import.meta.dirname, path)], external })
  return { [name]: outputFiles[0]!.text }
}

/** Returns the gzipped size of a bundle in KiB, as wrangler prints it. */
export const gzippedSize = (bundle: Bundle) => gzipSync(Object.values(bundle).join('')).byteLength / 1024
