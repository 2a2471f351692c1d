import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Archive } from '../pack/archives.ts'
import type { Tree } from '../pack/packages.ts'
import { root } from '../shared/settings.ts'

/**
 * Builds the files below `/packages`: the packages for npm, the wheel for Python, and the examples (docs/packages.md). tsc needs two seconds for the
 * declarations, so the archives are kept in `dist`, and built again only if a file that they are made from has changed.
 */

/** All files and folders on which the archives depend. */
const SOURCES = [
  'LICENSE',
  'docs/player.md',
  'docs/uploader.md',
  'examples',
  'package-lock.json',
  'package.json',
  'packages',
  'scripts/build/packages.ts',
  'scripts/pack',
  'scripts/shared/elements.ts',
  'src/client',
  'src/contract',
  'src/elements',
  'tsconfig.base.json',
]
const KEPT = join(root, 'dist/packages.json')

/** Returns the paths of all files of a folder in the repository, sorted, without those that tools add to it. A file returns itself. */
async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return null
    throw error
  })
  if (!entries) return [path]
  const kept = entries.filter(({ name }) => !/^\.|^node_modules$|^dist$|cache/.test(name))
  const files = await Promise.all(kept.map(({ name }) => filesOf(`${path}/${name}`)))
  return files.flat().toSorted()
}

async function readTree(paths: string[]): Promise<Tree> {
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const)),
  )
}

async function digestOfSources(): Promise<string> {
  const tree = await readTree((await Promise.all(SOURCES.map(filesOf))).flat())
  return createHash('sha256')
    .update(JSON.stringify([...tree]))
    .digest('hex')
}

interface Kept {
  digest: string
  archives: (Omit<Archive, 'content'> & { base64: string })[]
}

/** Returns all archives. */
export async function buildPackages(): Promise<Archive[]> {
  const digest = await digestOfSources()
  const kept = await readFile(KEPT, 'utf8').then(
    (text) => JSON.parse(text) as Kept,
    () => null,
  )
  if (kept?.digest === digest)
    return kept.archives.map(({ base64, ...archive }) => ({ ...archive, content: Buffer.from(base64, 'base64') }))
  const { makeArchives } = await import('../pack/archives.ts')
  const archives = await makeArchives(await readTree(await filesOf('examples')))
  const written: Kept = {
    digest,
    archives: archives.map(({ content, ...archive }) => ({
      ...archive,
      base64: Buffer.from(content).toString('base64'),
    })),
  }
  const draft = `${KEPT}-${process.pid}`
  await mkdir(join(root, 'dist'), { recursive: true })
  await writeFile(draft, JSON.stringify(written))
  await rename(draft, KEPT)
  return archives
}
