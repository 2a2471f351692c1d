import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { build as bundle } from 'esbuild'
import sharp from 'sharp'

import { clientOperations as operations } from '../src/contract/client_operations.ts'
import { COVER_SIZES } from '../src/contract/facts.ts'
import examples from '../src/reference/examples.json' with { type: 'json' }
import type { Document } from './build/docs/operations.ts'
import { packageFiles } from './build/docs/packages_page.ts'
import { buildDocs } from './build/docs/site.ts'
import { buildDocument } from './build/document.ts'
import { laterModules, oneFirstChunk } from './build/first_view.ts'
import { buildPackages } from './build/packages.ts'
import { ELEMENTS, styleText } from './shared/elements.ts'

/**
 * Builds `dist/public`, which contains the Worker's static assets: modules with hashed names, which are cached for a year, `index.html` and
 * `/elements/{name}.js`, whose names never change, the OpenAPI document, the packages, the default covers, and `_headers`. Only changed files are written, because `wrangler
 * dev` watches the directory.
 */

const root = join(import.meta.dirname, '..')
const studio = join(root, 'src/studio')
const target = join(root, 'dist/public')

const HEADERS = `/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Strict-Transport-Security: max-age=31536000
/
  Cache-Control: no-cache
  Cross-Origin-Opener-Policy: same-origin
  Permissions-Policy: camera=(), geolocation=(), microphone=()
  Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' http: https: data: blob:; media-src http: https: blob:; connect-src 'self' http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
/docs/*
  Cache-Control: no-cache
  Cross-Origin-Opener-Policy: same-origin
  Permissions-Policy: camera=(), geolocation=(), microphone=()
  Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
/packages/*
  Cache-Control: no-cache
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
  Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
/openapi.json
  Cache-Control: public, max-age=300
  Access-Control-Allow-Origin: *
/elements/*
  Cache-Control: public, max-age=300, stale-while-revalidate=86400
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/assets/*
  Cache-Control: public, max-age=31536000, immutable
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/cover/*
  Cache-Control: public, max-age=86400
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
`

type Files = Map<string, Uint8Array | string>

/** Builds everything and returns the number of changed files. */
export async function buildPublic(): Promise<number> {
  const [archives, document] = await Promise.all([buildPackages(), buildDocument()])
  const files: Files = new Map([
    ...(await bundleStudio()),
    ...(await bundleElements()),
    ...(await buildDocs(operations, document as unknown as Document, examples, archives)),
    ...packageFiles(archives),
    ...(await drawCovers()),
    ['openapi.json', JSON.stringify(document)],
    ['_headers', HEADERS],
  ])
  return await writeChanges(files)
}

/** Options for all bundles. esbuild generates modules with hashed names and returns them without writing files. */
const BUNDLE = {
  absWorkingDir: root,
  outdir: 'dist/public',
  entryNames: 'assets/[name]-[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'linked',
  metafile: true,
  write: false,
  logLevel: 'error',
} as const

/**
 * Bundles the studio, and writes the hashed names of its styles and of the module with the first view into its `index.html`. That module is a chunk:
 * those that are loaded later import it as well, and the entry only imports it.
 */
async function bundleStudio(): Promise<Files> {
  const [entry, styles] = ['src/studio/app.ts', 'src/studio/style.css']
  const entryPoints = [entry, styles]
  const split = { chunkNames: 'assets/[name]-[hash]', splitting: true, sourcemap: 'linked' } as const
  const options = { ...BUNDLE, ...split, entryPoints }
  const later = laterModules((await bundle(options)).metafile, entryPoints)
  const { outputFiles, metafile } = await bundle({ ...options, plugins: [oneFirstChunk(root, entry, later)] })
  const outputs = Object.entries(metafile.outputs)
  const outputOf = (source: string) => outputs.find(([, { entryPoint }]) => entryPoint === source)!
  const [first, ...others] = outputOf(entry)[1].imports
  if (!first || others.length > 0) throw new Error('The first view of the studio is in several modules')
  const html = await readFile(join(studio, 'index.html'), 'utf8')
  const bundled = outputFiles.map(({ path, contents }): [string, Uint8Array] => [nameOf(path), contents])
  const urlOf = (path: string) => path.replace('dist/public', '')
  return new Map<string, Uint8Array | string>([
    ...bundled,
    ['index.html', html.replace('./app.ts', urlOf(first.path)).replace('./style.css', urlOf(outputOf(styles)[0]))],
  ])
}

/**
 * The version in the URLs of the elements, like `/v1` in those of the API. It is increased when attributes, events or methods change
 * incompatibly (docs/decisions/0044).
 */
const ELEMENTS_VERSION = 1

/**
 * Bundles each element into one module whose name never changes, so that a page loads it with one request (docs/decisions/0083). Dynamic imports, such
 * as languages, become separate modules with hashed names.
 */
async function bundleElements(): Promise<Files> {
  const all = await Promise.all(ELEMENTS.map(bundleElement))
  return new Map(all.flatMap((files) => [...files]))
}

async function bundleElement(name: (typeof ELEMENTS)[number]): Promise<Files> {
  const entry = `src/elements/${name}/index.ts`
  const { outputFiles } = await bundle({
    entryPoints: [{ in: entry, out: name }],
    ...BUNDLE,
    entryNames: 'elements/[name]',
    chunkNames: 'assets/[name]-[hash]',
    splitting: true,
    sourcemap: 'linked',
    plugins: [styleText],
  })
  const files = outputFiles.map(({ path, contents }): [string, Uint8Array] => [nameOf(path), contents])
  const main = Buffer.from(new Map(files).get(`elements/${name}.js`)!).toString()
  // The module at the address with a version is one folder deeper.
  const deeper = main.replaceAll('"../assets/', '"../../assets/').replace('sourceMappingURL=', '$&../')
  return new Map<string, Uint8Array | string>([...files, [`elements/${ELEMENTS_VERSION}/${name}.js`, deeper]])
}

/** Bundles the player as a classic script, because browsers load no modules from the disk (scripts/export/playable.ts). */
export async function bundleClassicPlayer(): Promise<Uint8Array> {
  const { outputFiles } = await bundle({
    ...BUNDLE,
    entryPoints: [join(root, 'src/elements/player/index.ts')],
    format: 'iife',
    define: { 'import.meta.url': 'location.href' },
    plugins: [styleText],
    legalComments: 'inline',
  })
  return outputFiles[0]!.contents
}

const nameOf = (path: string) => path.slice(target.length + 1)

/** Renders the default cover, which a play view shows for a track without a cover, in all sizes of covers. */
async function drawCovers(): Promise<Files> {
  const drawing = await readFile(join(studio, 'cover.svg'))
  const squares = Object.entries(COVER_SIZES).map(async ([name, size]): Promise<[string, Uint8Array]> => {
    const jpeg = sharp(drawing, { density: 144 }).resize(size, size).jpeg({ quality: 85, mozjpeg: true })
    return [`cover/${name}.jpg`, await jpeg.toBuffer()]
  })
  return new Map(await Promise.all(squares))
}

/** Moves new and changed files into place atomically, then deletes files that are no longer part of the build. */
async function writeChanges(files: Files): Promise<number> {
  const existing = await readdir(target, { recursive: true, withFileTypes: true }).catch(() => [])
  let changes = 0
  for (const [name, contents] of files) {
    const path = join(target, name)
    const old = await readFile(path).catch(() => undefined)
    if (old?.equals(Buffer.from(contents))) continue
    const draft = join(root, 'dist', `${process.pid}-${name.replaceAll('/', '-')}`)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(draft, contents)
    await rename(draft, path)
    changes++
  }
  for (const entry of existing) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || files.has(path.slice(target.length + 1))) continue
    await rm(path, { force: true })
    changes++
  }
  return changes
}

if (import.meta.main) console.log(`dist/public: ${await buildPublic()} files changed`)
