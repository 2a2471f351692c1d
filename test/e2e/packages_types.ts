import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The type checks of packages.test.ts. */

const root = join(import.meta.dirname, '../..')

/** Returns the blocks of code of docs/packages.md in a language. */
async function documented(language: string): Promise<string[]> {
  const page = await readFile(join(root, 'docs/packages.md'), 'utf8')
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, code]) => code!)
}

const SVELTE = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    verbatimModuleSyntax: true,
    strict: true,
    types: [],
  },
  include: ['*.svelte'],
}

/** The output about a component for Svelte with two mistakes. */
export const WRONG_SVELTE = /nothing[^]*lost[^]*COMPLETED \d+ FILES 2 ERRORS 0 WARNINGS 1 FILES_WITH_PROBLEMS/

/** Adds the code of docs/packages.md to the projects of the examples, and a project for Svelte that also has a wrong component. */
export async function addDocumented(project: string): Promise<void> {
  const [[, listed], [vue], [svelte]] = await Promise.all([documented('ts'), documented('vue'), documented('svelte')])
  await mkdir(join(project, 'svelte'))
  const files = {
    'node/listed.ts': listed!,
    'vue/Documented.vue': vue!,
    'vue/Literal.vue': vue!.replace(':base-url="service"', 'base-url="https://audio.example.com"'),
    'svelte/Documented.svelte': svelte!,
    'svelte/Wrong.svelte': svelte!
      .replace('detail.last &&', 'detail.lost &&')
      .replace('<tonearm-player', '$& nothing="x"'),
    'svelte/tsconfig.json': JSON.stringify(SVELTE),
  }
  await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(project, path), text)))
}

/** Returns the arguments with which Node checks the types of an example, in the directory that has all of them. */
export function typeCheck(example: string): string[] {
  if (example === 'vue') return ['--input-type=commonjs', '-e', VUE, 'vue-tsc', '-p', example]
  if (example === 'svelte') {
    const options = ['--workspace', example, '--tsconfig', 'tsconfig.json', '--output', 'machine']
    return ['--input-type=commonjs', '-e', SVELTE_CHECK, 'svelte-check', ...options]
  }
  return [join(root, 'node_modules/typescript/bin/tsc'), '--singleThreaded', '-p', example]
}

// vue-tsc and svelte-check need the old API of the TypeScript compiler (docs/decisions/0044).
const { resolve } = createRequire(join(root, 'package.json'))
const old = createRequire(resolve('@arethetypeswrong/core/package.json'))
const quoted = JSON.stringify
const VUE = `require(${quoted(resolve('vue-tsc'))}).run(${quoted(old.resolve('typescript/lib/tsc'))})`
const SVELTE_CHECK = `const typescript = ${quoted(old.resolve('typescript'))}
require('node:module').registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? typescript : name, context) })
require(${quoted(join(dirname(resolve('svelte-check/package.json')), 'dist/src/index.js'))})`
