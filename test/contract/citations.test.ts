import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let directory: string

function put(path: string, ...lines: string[]): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), lines.join('\n'))
}

function check() {
  const script = join(import.meta.dirname, '../../scripts/check/citations.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, directory], { encoding: 'utf8' })
  return { status, says: stdout.trim(), faults: stderr.trim().split('\n').filter(Boolean) }
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'citations-'))
  execFileSync('git', ['init', '-q', directory])
  put('docs/specification.md', '## 2. Things', '### Track', '## 4. Endpoints', '### Tracks')
  put('docs/here.md', '# Here', '## What `it` does, and why', '## Twice', '## Twice')
  put('docs/decisions/0001-first.md', '# 0001')
  put('src/there.ts', '')
  put('src/deep/file.ts', "import './none.ts'", "await write('folder/none.ts', '')", '// see deep/file.ts')
  put(
    'docs/text.md',
    '# Top',
    '[a](here.md#what-it-does-and-why) [b](#top) [c](https://example.com/none.md) ![](../src/there.ts)',
    'docs/here.md#twice-1, specification §2, specification §2, Track, RFC 9110 §99, `src/there.ts`, `deep/file.ts`',
    '```sh',
    'cat nowhere.md',
    '```',
  )
  put('docs/decisions/0002-second.md', 'As before (0001).')
})
afterAll(() => rmSync(directory, { recursive: true }))

describe('the citation check', () => {
  it('passes when all cited files and headings exist', () => {
    expect(check()).toEqual({ status: 0, says: '10 citations, all there', faults: [] })
  })

  it('lists each line whose target is missing, together with the target', () => {
    put(
      'docs/wrong.md',
      '[a page](none.md)',
      '<img src="none.png">',
      '[a heading](here.md#none)',
      '[a heading of its own](#none)',
      'a path: `src/none`',
      'the end of a path: `deep/none.ts`',
      '[a page, seen from the root](docs/here.md)',
    )
    put(
      'src/wrong.ts',
      '// see design.md',
      '// docs/here.md#none',
      '// specification §3',
      '// specification §4, Track',
      '// §2',
      '// as src/none.ts does',
      '// docs/decisions/0003',
      '// as in none/file.ts',
    )
    put('docs/decisions/0004-wrong.md', '(0003)')
    expect(check()).toEqual({
      status: 1,
      says: '26 citations, 16 lead nowhere',
      faults: [
        'docs/decisions/0004-wrong.md:1: there is no decision 0003',
        'docs/wrong.md:1: there is no none.md',
        'docs/wrong.md:2: there is no none.png',
        'docs/wrong.md:3: docs/here.md has no heading #none',
        'docs/wrong.md:4: docs/wrong.md has no heading #none',
        'docs/wrong.md:7: there is no docs/here.md',
        'docs/wrong.md:5: there is no src/none',
        'docs/wrong.md:6: no path ends with deep/none.ts',
        'src/wrong.ts:1: there is no design.md',
        'src/wrong.ts:2: docs/here.md has no heading #none',
        'src/wrong.ts:3: docs/specification.md has no §3',
        'src/wrong.ts:4: docs/specification.md §4 has no heading Track',
        'src/wrong.ts:5: §2 names no document on its line',
        'src/wrong.ts:6: there is no src/none.ts',
        'src/wrong.ts:7: there is no decision 0003',
        'src/wrong.ts:8: no path ends with none/file.ts',
      ],
    })
  })
})
