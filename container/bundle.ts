import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Bundles the transcoder, so that Node starts it without reading and stripping a hundred files. The bundle is `server.js` with the launcher next to
 * it. Only sharp stays a package, because it is a native module.
 */

const root = join(import.meta.dirname, '..')

/** The program that Node runs to start the transcoder, after `bundleTranscoder`. */
export const TRANSCODER = join(root, 'dist/transcoder/server.js')

/** Writes the bundle to dist/transcoder. Several processes may do this at the same time. */
export async function bundleTranscoder(): Promise<void> {
  // Loaded here, because most processes only need the path.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['container/service/server.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['sharp'],
    write: false,
    logLevel: 'error',
  })
  const launcher = await readFile(join(root, 'container/process/launch.pl'))
  await mkdir(join(TRANSCODER, '..'), { recursive: true })
  await Promise.all([replace('server.js', outputFiles[0]!.contents), replace('launch.pl', launcher)])
}

async function replace(name: string, contents: Uint8Array): Promise<void> {
  const path = join(TRANSCODER, '..', name)
  const draft = `${path}.${process.pid}`
  await writeFile(draft, contents)
  await rename(draft, path)
}

if (import.meta.main) await bundleTranscoder()
