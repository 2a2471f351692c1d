import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Bundles the transcoder, so that Node starts it without reading and stripping a hundred files: the service `server.js`, the program `decode_cover.js`, and
 * next to them the launcher. Only sharp stays a package, because it is a native module.
 */

const root = join(import.meta.dirname, '..')

const directory = join(root, 'dist/transcoder')

/** The program that Node runs to start the transcoder, after `bundleTranscoder`. */
export const TRANSCODER = join(directory, 'server.js')

/** Writes the bundle to dist/transcoder. Several processes may do this at the same time. */
export async function bundleTranscoder(): Promise<void> {
  // Loaded here, because most processes only need the path.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['container/service/server.ts', 'container/audio/decode_cover.ts'],
    entryNames: '[name]',
    outdir: directory,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['sharp'],
    write: false,
    logLevel: 'error',
  })
  await mkdir(directory, { recursive: true })
  await Promise.all([
    ...outputFiles.map(({ path, contents }) => replace(path, contents)),
    replace(join(directory, 'launch.pl'), await readFile(join(root, 'container/process/launch.pl'))),
    // The bundles are modules. A confined program may not read the package.json of the checkout.
    replace(join(directory, 'package.json'), '{"type":"module"}\n'),
  ])
}

async function replace(path: string, contents: Uint8Array | string): Promise<void> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, contents)
  await rename(draft, path)
}

if (import.meta.main) await bundleTranscoder()
