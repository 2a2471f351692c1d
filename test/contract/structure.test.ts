import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'structure-'))
  execFileSync('git', ['init', '-q', directory])
})
afterEach(() => rmSync(directory, { recursive: true }))

function put(path: string, ...imports: string[]): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), imports.map((from) => `import type { A } from '${from}'\n`).join(''))
}

/** The rules that are violated, each with the number of violations. */
function failures(): string[] {
  const script = join(import.meta.dirname, '../../scripts/check/structure.ts')
  const { status, stdout } = spawnSync(process.execPath, [script, directory], { encoding: 'utf8' })
  const failed = [...stdout.matchAll(/^FAILED (.*)$/gm)].map(([, rule]) => rule!)
  expect(status).toBe(failed.length > 0 ? 1 : 0)
  return failed
}

describe('the structure rules', () => {
  it('accept imports in one direction between folders, and in both directions between a folder and its parent', () => {
    put('src/http/a.ts', '../domain/b.ts', './api/c.ts')
    put('src/http/api/c.ts', '../d.ts')
    put('src/http/d.ts')
    put('src/domain/b.ts')
    expect(failures()).toEqual([])
  })

  it('reject a cycle of imports', () => {
    put('container/a.ts', './b.ts')
    put('container/b.ts', './audio/c.ts')
    put('container/audio/c.ts', '../a.ts')
    expect(failures()).toEqual(['import cycles: 1'])
  })

  it('reject sibling folders that import each other, at any depth', () => {
    put('src/domain/cleanup/a.ts', '../transcode/deep/b.ts')
    put('src/domain/transcode/deep/b.ts')
    put('src/domain/transcode/c.ts', '../cleanup/d.ts')
    put('src/domain/cleanup/d.ts')
    expect(failures()).toEqual(['sibling folders that import each other: 1'])
  })

  it('reject a folder with too many files, except in tests and the contract', () => {
    for (const folder of ['test/worker', 'src/studio/features/library', 'src/contract', 'bench'])
      for (let i = 0; i < 100; i++) put(`${folder}/f${i}.ts`)
    expect(failures()).toEqual([expect.stringMatching(/^folders with more than \d+ files: 2$/)])
  })

  it('reject a table that is defined outside the schema folder', () => {
    for (const path of ['src/adapters/db/schema/library.ts', 'src/resources/library/track.ts']) {
      put(path)
      writeFileSync(join(directory, path), "export const tracks = sqliteTable('tracks', {})")
    }
    expect(failures()).toEqual(['tables outside the schema folder: 1'])
  })

  it('reject a studio file that imports an internal file of an element', () => {
    put('src/elements/player/state.ts')
    put('src/studio/app.ts', '../elements/player/state.ts')
    expect(failures()).toEqual(['internals of an element that the studio imports: 1'])
  })
})

it('only one function opens the namespace of listening, which must follow the jurisdiction of the deployment', () => {
  const root = join(import.meta.dirname, '../..')
  const use = /\.LISTENING\b|\{[^{}]*\bLISTENING\b[^{}]*\}\s*(:\s*Env|=\s*[\w.]*env)\b/
  const users = globSync('{src,scripts}/**/*.ts', { cwd: root }).filter((path) =>
    use.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(users).toEqual(['src/listening/stub.ts'])
})
