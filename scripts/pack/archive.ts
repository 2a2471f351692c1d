import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { downloadZip } from 'client-zip'
import { gzipSync } from 'fflate'
import { packTar } from 'modern-tar'

import type { Tree } from './packages.ts'

/**
 * Archives whose bytes are a function of their files. npm and pip record the checksum of an archive, and refuse another one with the same name.
 * Hence `fflate` instead of `node:zlib`, whose output differs between processors.
 */

const MODIFIED = new Date('2020-01-01T00:00:00Z')

/** Returns the files of a folder as a tarball (`.tgz`). */
export async function tarball(tree: Tree, folder: string): Promise<Uint8Array> {
  const entries = sorted(tree).map(([path, text]) => {
    const body = Buffer.from(text)
    return { header: { name: `${folder}/${path}`, size: body.length, mode: 0o644, mtime: MODIFIED }, body }
  })
  return gzipSync(await packTar(entries), { level: 9, mtime: 0 })
}

/** Returns files as a ZIP without compression, such as a wheel for Python. */
export async function zip(tree: Tree): Promise<Uint8Array> {
  const entries = [...tree].map(([name, input]) => ({ name, input, lastModified: MODIFIED }))
  return new Uint8Array(await downloadZip(entries).arrayBuffer())
}

/** Writes files to a folder. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [path, text] of tree) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

const sorted = (tree: Tree) => [...tree].toSorted(([a], [b]) => (a < b ? -1 : 1))
