import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

import { build } from 'esbuild'

import { ELEMENTS, styleText } from '../shared/elements.ts'
import { contractTypes } from './calls.ts'
import { addDescriptions, customElements } from './manifest.ts'

/** Builds `@tonearm/client` and `@tonearm/elements` in memory (docs/decisions/0044). */

const root = join(import.meta.dirname, '../..')

/** The files of a package or an archive: their content by their paths. */
export type Tree = Map<string, string>

interface Package {
  name: 'client' | 'elements'
  /** Paths of the source modules, keyed by the name in the package. */
  entries: Record<string, string>
  /** Paths of modules that contain only types and that no entry imports. */
  types: string[]
}

const PACKAGES: Package[] = [
  {
    name: 'client',
    entries: Object.fromEntries(
      ['index', 'upload', 'playback', 'sign'].map((name) => [name, `packages/client/${name}.ts`]),
    ),
    types: [],
  },
  {
    name: 'elements',
    entries: Object.fromEntries(
      // Only the embed page of the service uses the element `frame`.
      ELEMENTS.filter((name) => name !== 'frame' && name !== 'share').map((name) => [
        name,
        `src/elements/${name}/index.ts`,
      ]),
    ),
    types: ['react', 'preact', 'svelte', 'vue'].map((name) => `packages/elements/${name}.ts`),
  },
]

/**
 * Code that is added to modules, so that they can also be imported without a DOM, such as on a server that renders pages. They define
 * nothing there.
 */
const WITHOUT_DOM = `const HTMLElement = globalThis.HTMLElement ?? class {}
const CSSStyleSheet = globalThis.CSSStyleSheet ?? class { replaceSync() {} }
const customElements = globalThis.customElements ?? { get: () => true }`

/**
 * Generates the declarations of all modules in a directory. The types are not checked: `npm run check` does that, and `npm start` must work while
 * they have errors. With several threads, tsc would check the shared types once in each.
 */
async function declare(directory: string): Promise<void> {
  const options =
    '-p packages --singleThreaded --noCheck --noEmit false --declaration --emitDeclarationOnly --rootDir .'
  const command = join(root, 'node_modules/.bin/tsc')
  await promisify(execFile)(command, [...options.split(' '), '--outDir', directory], { cwd: root }).catch(
    (error: Error & { stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`)
    },
  )
}

async function bundle({ name, entries }: Package): Promise<Tree> {
  const outdir = join(root, 'dist/packages', name)
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    plugins: [styleText],
    logLevel: 'error',
    ...(name === 'elements' && { banner: { js: WITHOUT_DOM } }),
  })
  return new Map(outputFiles.map(({ path, text }) => [relative(outdir, path), text]))
}

/** Returns the declarations of modules and of their imports. Those of `src/contract` are replaced by ones that do not need zod. */
async function typesOf({ entries, types }: Package, declared: string): Promise<Tree> {
  const tree: Tree = new Map([['types/contract.d.ts', contractTypes()]])
  const modules = new Set([...Object.values(entries), ...types])
  for (const module of modules) {
    const text = await readFile(join(declared, module.replace(/\.ts$/, '.d.ts')), 'utf8')
    const rewritten = text.replace(/(?<=from '|import\(")(\.[^'"]+)(?=['"])/g, (specifier) => {
      const imported = join(dirname(module), specifier).replace(/\.js$/, '.ts')
      const isContract = imported.startsWith('src/contract/')
      if (!isContract) modules.add(imported)
      const path = relative(dirname(declarationPath(module)), isContract ? 'contract.js' : declarationPath(imported))
      return path.startsWith('.') ? path : `./${path}`
    })
    tree.set(join('types', declarationPath(module).replace(/\.js$/, '.d.ts')), rewritten)
  }
  return tree
}

/** Returns the path of a module's declarations in a package. */
const declarationPath = (module: string) => module.replace(/^src\/|^packages\/\w+\//, '').replace(/\.ts$/, '.js')

async function makePackage(made: Package, version: string, declared: string): Promise<Tree> {
  const [code, types] = await Promise.all([bundle(made), typesOf(made, declared)])
  const read = (file: string) => readFile(join(root, file), 'utf8')
  const manifest = JSON.parse(await read(`packages/${made.name}/package.json`)) as object
  const tree: Tree = new Map([
    ['package.json', `${JSON.stringify({ ...manifest, version }, null, 2)}\n`],
    ['LICENSE', await read('LICENSE')],
    ['README.md', await read(`packages/${made.name}/README.md`)],
    ...code,
    ...types,
  ])
  if (made.name === 'client') {
    // Exports the types of all responses, for code that stores responses or passes them on.
    tree.set('types/index.d.ts', `${tree.get('types/index.d.ts')}export type * from './contract.js'\n`)
  } else {
    tree.set('types/attributes.d.ts', addDescriptions(tree.get('types/attributes.d.ts')!))
    tree.set('custom-elements.json', `${JSON.stringify(customElements(), null, 2)}\n`)
    tree.set('types_only.js', 'export {}\n')
  }
  return tree
}

/** Returns the version of the service, which is also that of the packages. */
export async function versionOf(): Promise<string> {
  return (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version
}

/** Builds the packages for npm. */
export async function makePackages(version: string): Promise<Record<Package['name'], Tree>> {
  await mkdir(join(root, 'dist'), { recursive: true })
  const declared = await mkdtemp(join(root, 'dist/declared-'))
  try {
    await declare(declared)
    const trees = PACKAGES.map(async (each) => [each.name, await makePackage(each, version, declared)])
    return Object.fromEntries(await Promise.all(trees)) as Record<Package['name'], Tree>
  } finally {
    await rm(declared, { recursive: true })
  }
}
