import { readFile } from 'node:fs/promises'

import { type Plugin, transform } from 'esbuild'

/** The elements, and the plugin that their bundles need, in `dist/public` and in the packages. */

/** The elements that pages from other origins can load, and the modules of our pages for frames and shares. */
export const ELEMENTS = ['player', 'uploader', 'waveform', 'embed', 'frame', 'share'] as const
/**
 * Imports style sheets as text. The elements use it for constructable style sheets, which also work under a strict Content-Security-Policy.
 */
export const styleText: Plugin = {
  name: 'style-text',
  setup(build) {
    build.onLoad({ filter: /src\/elements\/.*\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target: 'es2022' })
      return { contents: code, loader: 'text' }
    })
  },
}
