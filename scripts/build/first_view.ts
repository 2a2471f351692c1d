import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { Metafile, Plugin } from 'esbuild'

/** Returns the paths of the modules that are loaded with `import()`. esbuild makes an output of each, like of an entry. */
export const laterModules = ({ outputs }: Metafile, entries: readonly string[]): string[] =>
  Object.values(outputs).flatMap(({ entryPoint }) => (entryPoint && !entries.includes(entryPoint) ? entryPoint : []))

/**
 * Puts the code of the first view into one chunk. esbuild makes a chunk for each set of entries that share modules, and every module that is loaded
 * later is an entry, so that this code was split into 29 chunks. Here, each of these modules imports all of the first view, which has run by then.
 */
export const oneFirstChunk = (root: string, entry: string, later: readonly string[]): Plugin => ({
  name: 'one first chunk',
  setup(build) {
    const paths = new Set(later.map((path) => join(root, path)))
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      if (!paths.has(path)) return undefined
      const contents = `import ${JSON.stringify(join(root, entry))}\n${await readFile(path, 'utf8')}`
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts', resolveDir: dirname(path) }
    })
  },
})
