import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

import { build } from 'esbuild'

import { ELEMENTS, styleText } from './build.ts'
import { contractTypes } from './pack/calls.ts'
import { customElements, addDescriptions } from './pack/manifest.ts'
import { packPython } from './pack/python.ts'

/**
 * `npm run pack`: builds `@tonearm/client` and `@tonearm/elements` in `dist/packages`, as folders and as tarballs, and checks them with
 * tsc, publint and attw. The package for Python is built there too (docs/decisions/0044).
 */

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist/packages')
/** Directory of the declarations that tsc generates for all packages. */
const declared = join(target, 'declared')
const bin = (name: string) => join(root, 'node_modules/.bin', name)

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

/** Runs a command. If it fails, throws an error with its output. */
async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: root }).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`)
    },
  )
  return stdout
}

/** Runs tsc. With several threads, it checks the shared types once in each, which takes twice the CPU time. */
const compile = (...args: string[]) => run(bin('tsc'), '--singleThreaded', ...args)

async function makePackage({ name, entries, types }: Package, version: string): Promise<void> {
  const folder = join(target, name)
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    plugins: [styleText],
    logLevel: 'error',
    ...(name === 'elements' && { banner: { js: WITHOUT_DOM } }),
  })
  await copyTypes(folder, [...Object.values(entries), ...types])
  const manifest = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8')) as object
  const full = { ...manifest, version, ...repositoryOf(name) }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(full, null, 2)}\n`)
  await Promise.all(
    ['LICENSE', `packages/${name}/README.md`].map((file) =>
      cp(join(root, file), join(folder, file.split('/').at(-1)!)),
    ),
  )
}

/** Returns the field `repository`, which npm compares with the provenance. In GitHub Actions it is the repository of the workflow. */
const repositoryOf = (name: string) =>
  process.env.GITHUB_REPOSITORY && {
    repository: {
      type: 'git',
      url: `git+https://github.com/${process.env.GITHUB_REPOSITORY}.git`,
      directory: `packages/${name}`,
    },
  }

/** Copies the declarations of modules and of their imports. `src/contract` is replaced by declarations that do not need zod. */
async function copyTypes(folder: string, modules: string[]): Promise<void> {
  const copied = new Set(modules)
  for (const module of copied) {
    const text = await readFile(join(declared, module.replace(/\.ts$/, '.d.ts')), 'utf8')
    const rewritten = text.replace(/(?<=from '|import\(")(\.[^'"]+)(?=['"])/g, (specifier) => {
      const imported = relative(root, join(root, dirname(module), specifier)).replace(/\.js$/, '.ts')
      const isContract = imported.startsWith('src/contract/')
      if (!isContract) copied.add(imported)
      const path = relative(dirname(declarationPath(module)), isContract ? 'contract.js' : declarationPath(imported))
      return path.startsWith('.') ? path : `./${path}`
    })
    await write(join(folder, 'types', declarationPath(module).replace(/\.js$/, '.d.ts')), rewritten)
  }
  await write(join(folder, 'types/contract.d.ts'), contractTypes())
}

/** Returns the path of a module's declarations in a package. */
const declarationPath = (module: string) => module.replace(/^src\/|^packages\/\w+\//, '').replace(/\.ts$/, '.js')

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Compiles the packages, and checks that their contract types are equal to the types that zod derives. */
async function checkTypes(): Promise<void> {
  const comparison = `
import type { Calls as Table } from '../../src/contract/client_operations.ts'
import type { Calls } from './client/types/contract.js'
type Fits<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type Names = keyof Table | keyof Calls
export const calls: { [N in Names]: Fits<Table[N & keyof Table], Calls[N & keyof Calls]> } = {} as { [N in Names]: true }
`
  await write(join(target, 'same.ts'), comparison)
  const declarations = await readdir(target, { recursive: true })
  const files = declarations.filter((file) => /^(client|elements)\/types\/.*\.d\.ts$/.test(file))
  const config = {
    extends: '../../packages/tsconfig.json',
    compilerOptions: { skipLibCheck: false, types: [], noEmit: true },
    include: [],
    files: ['same.ts', ...files],
  }
  await write(join(target, 'tsconfig.json'), JSON.stringify(config))
  await compile('-p', join(target, 'tsconfig.json'))
}

async function packAndCheck({ name }: Package): Promise<void> {
  const packed = await run('npm', 'pack', join(target, name), '--pack-destination', target, '--json')
  const [{ filename, size }] = JSON.parse(packed) as [{ filename: string; size: number }]
  const path = join(target, filename)
  await Promise.all([
    run(bin('publint'), path, '--strict'),
    // The JSON file is excluded, because it has no types.
    run(bin('attw'), path, '--profile', 'esm-only', '--exclude-entrypoints', './custom-elements.json'),
  ])
  console.log(`dist/packages/${filename}: ${size} bytes`)
}

/** Adds the content that only one of the packages has. */
async function addExtraFiles(): Promise<void> {
  const [index, attributes] = [join(target, 'client/types/index.d.ts'), join(target, 'elements/types/attributes.d.ts')]
  // Exports the types of all responses, for code that stores responses or passes them on.
  await appendFile(index, "export type * from './contract.js'\n")
  await writeFile(attributes, addDescriptions(await readFile(attributes, 'utf8')))
  await writeFile(join(target, 'elements/custom-elements.json'), `${JSON.stringify(customElements(), null, 2)}\n`)
  await writeFile(join(target, 'elements/types_only.js'), 'export {}\n')
}

await rm(target, { recursive: true, force: true })
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
const options = '-p packages --noEmit false --declaration --emitDeclarationOnly --rootDir . --outDir'
await compile(...options.split(' '), declared)
await Promise.all(PACKAGES.map((each) => makePackage(each, version)))
await addExtraFiles()
await Promise.all([checkTypes(), ...PACKAGES.map(packAndCheck)])
const wheel = await packPython(target, version)
console.log(`dist/packages/${wheel.file}: ${wheel.size} bytes`)
