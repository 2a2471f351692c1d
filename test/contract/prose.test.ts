import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'prose-'))
  execFileSync('git', ['init', '-q', directory])
})
afterEach(() => rmSync(directory, { recursive: true }))

function faultsOf(path: string, ...lines: string[]): string[] {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), lines.join('\n'))
  const script = join(import.meta.dirname, '../../scripts/check/prose.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, directory], { encoding: 'utf8' })
  const faults = stderr.trim().split('\n').filter(Boolean)
  expect(status).toBe(faults.length > 0 ? 1 : 0)
  return faults.map((fault) => fault.replace(/": .*/, '"')).toSorted()
}

const BAD = [
  ['Who asks too often waits.', 'Who'],
  ['Deletes old rows: what nobody reads.', 'nobody', 'what'],
  ['A copy of what was read.', 'of what'],
  ['The upload is told, and begins anew.', 'anew', 'told', 'begins'],
  ['The file lies beside the index.', 'beside', 'lies'],
  ['A row that is to be deleted.', 'is to'],
  ['The folder where the files of a track lie.', 'where the files of a track lie'],
  ['An event that is none.', 'is none'],
  ['Of a share, the slug is not enough.', 'Of a'],
  ['The player has a clock of its own, also when it is paused, and a timer, too.', 'of its own', 'also when', ', too'],
]
const GOOD = [
  'Rejects a request with no body. What if the caller retries?',
  'The caller, who owns the track, receives 404.',
  'Returns null if there is none. A prefix tells keys apart.',
  'Rejects files that are empty, too large, or text, besides scripts of its own origin.',
  'This is to support tokens of version 1. The goal is to keep it small.',
  '`told` and `what` are names of columns: "who asks" is a quotation.',
]

describe('the prose rule', () => {
  it.each(BAD)('rejects %j in a comment', (sentence, ...found) => {
    expect(faultsOf('a.ts', `// ${sentence}`)).toEqual(found.map((words) => `a.ts:1: "${words}"`).toSorted())
  })

  it.each(GOOD)('accepts %j', (sentence) => {
    expect(faultsOf('a.ts', `// ${sentence}`)).toEqual([])
  })

  it('reports the line of the fault in a comment of several lines', () => {
    expect(faultsOf('a.ts', 'const a = 1', '/**', ' * The lease is', ' * told to the worker.', ' */')).toEqual([
      'a.ts:4: "told"',
    ])
  })

  it('finds a fault in a sentence that continues on the next line', () => {
    expect(faultsOf('a.css', '/* a copy of', '   what was read */')).toEqual(['a.css:1: "of what"'])
  })

  it('reads comments after code, and comments of SQL and shell files', () => {
    expect(faultsOf('a.ts', 'const a = 1 // nobody reads it')).toEqual(['a.ts:1: "nobody"'])
    expect(faultsOf('b.sql', 'select 1;', '-- nobody reads it')).toContain('b.sql:2: "nobody"')
    expect(faultsOf('c.sh', '# nobody reads it')).toContain('c.sh:1: "nobody"')
  })

  it('reads the titles of tests, but no other code', () => {
    const lines = ["it('tells the worker', () => {", "  call('nobody')", '})', "it.each([1])('stands at %i', () => {})"]
    expect(faultsOf('a.test.ts', ...lines)).toEqual(['a.test.ts:1: "tells"', 'a.test.ts:4: "stands"'])
  })

  it('reads the text of pages, but not their code, tags and link targets', () => {
    const page = [
      '# What nobody reads',
      '',
      'Text with `nobody`, [a link](nobody.md), and',
      '**nobody**.',
      '```',
      'nobody',
      '```',
    ]
    expect(faultsOf('a.md', ...page)).toEqual(['a.md:4: "nobody"'])
  })

  it('accepts indirect questions only in pages', () => {
    const lines = ['Lists what happened, and what it means.', '', '| what happened | who did it |', '']
    expect(faultsOf('a.md', ...lines, 'A page of its own.')).toEqual([])
    expect(faultsOf('b.ts', ...lines.map((line) => `// ${line}`))).toEqual(['b.ts:1: "and what"'])
  })

  it('checks the files of the studio', () => {
    expect(faultsOf('src/studio/a.ts', '// What is shown stays.')).not.toEqual([])
  })
})
