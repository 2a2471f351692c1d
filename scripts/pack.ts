import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { tarball, writeTree, zip } from './pack/archive.ts'
import { makePackages, type Tree, versionOf } from './pack/packages.ts'
import { makePython } from './pack/python.ts'

/**
 * `npm run pack`: builds `@tonearm/client` and `@tonearm/elements` in `dist/packages`, as folders and as tarballs, and checks them with
 * tsc, publint and attw. The package for Python is built there too (docs/decisions/0044). Services get the same archives from `npm run build`.
 */

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist/packages')
const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** Runs a command. If it fails, throws an error with its output. */
async function run(command: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(command, args, { cwd: root }).catch((error: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`)
  })
}

/** Adds the field `repository`, which npm compares with the provenance. In GitHub Actions it is the repository of the workflow. */
function addRepository(name: string, tree: Tree): void {
  const repository = process.env.GITHUB_REPOSITORY
  if (!repository) return
  const url = `git+https://github.com/${repository}.git`
  const manifest = JSON.parse(tree.get('package.json')!) as object
  const full = { ...manifest, repository: { type: 'git', url, directory: `packages/${name}` } }
  tree.set('package.json', `${JSON.stringify(full, null, 2)}\n`)
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
  const declarations = await readdir(target, { recursive: true })
  const files = declarations.filter((file) => /^(client|elements)\/types\/.*\.d\.ts$/.test(file))
  const config = {
    extends: '../../packages/tsconfig.json',
    compilerOptions: { skipLibCheck: false, types: [], noEmit: true },
    include: [],
    files: ['same.ts', ...files],
  }
  await writeFile(join(target, 'same.ts'), comparison)
  await writeFile(join(target, 'tsconfig.json'), JSON.stringify(config))
  await run(bin('tsc'), '--singleThreaded', '-p', join(target, 'tsconfig.json'))
}

async function write(file: string, content: Uint8Array): Promise<string> {
  const path = join(target, file)
  await writeFile(path, content)
  console.log(`dist/packages/${file}: ${content.length} bytes`)
  return path
}

async function packAndCheck(name: string, tree: Tree, version: string): Promise<void> {
  const path = await write(`tonearm-${name}-${version}.tgz`, await tarball(tree, 'package'))
  await Promise.all([
    run(bin('publint'), path, '--strict'),
    // The JSON file is excluded, because it has no types.
    run(bin('attw'), path, '--profile', 'esm-only', '--exclude-entrypoints', './custom-elements.json'),
  ])
}

await rm(target, { recursive: true, force: true })
await mkdir(target, { recursive: true })
const version = await versionOf()
const [packages, python] = await Promise.all([makePackages(version), makePython(version)])
await writeTree(join(target, 'python'), python)
await write(`tonearm-${version}-py3-none-any.whl`, await zip(python))
for (const [name, tree] of Object.entries(packages)) {
  addRepository(name, tree)
  await writeTree(join(target, name), tree)
}
await Promise.all([checkTypes(), ...Object.entries(packages).map(([name, tree]) => packAndCheck(name, tree, version))])
