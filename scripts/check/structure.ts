import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/**
 * `node scripts/check/structure.ts [directory]`: checks the structure of the code. Imports must not form cycles (type imports count), and
 * must have only one direction between sibling folders. The number of files in a folder is limited. The studio must not import internals of an
 * element.
 */

const directory = process.argv[2] ?? '.'
const ROOTS = ['src', 'container', 'scripts', 'test', 'bench']
/** Maximum number of files directly in a folder. */
const MAX_FOLDER = 25
/** Folders without that limit: tests, and the contract, which has one file per noun. */
const LARGE_FOLDERS = /^(test|src\/contract)(\/|$)/
/** The only files that may define database tables. */
const TABLES = /^src\/adapters\/db\/schema\//

const tracked = execFileSync('git', ['-C', directory, 'ls-files', '-co', '--exclude-standard', '--', ...ROOTS], {
  encoding: 'utf8',
})
const paths = tracked.split('\n').filter((path) => path && existsSync(join(directory, path)))
const files = paths.filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
const texts = new Map(files.map((file) => [file, readFileSync(join(directory, file), 'utf8')]))
const graph = new Map([...texts].map(([file, text]) => [file, importsOf(file, text)]))

function importsOf(file: string, text: string): string[] {
  const found = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.tsx?)'/g)]
  return [...new Set(found.map(([, path]) => join(dirname(file), path!)))].filter((path) => texts.has(path))
}

/** Returns each cycle of imports once. */
function cycles(): string[] {
  const found: string[] = []
  const done = new Set<string>()
  function walk(file: string, path: string[]): void {
    const at = path.indexOf(file)
    if (at >= 0) return void found.push([...path.slice(at), file].join(' → '))
    if (done.has(file)) return
    for (const next of graph.get(file)!) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  return found
}

/** Returns the two sibling folders that contain the two files at any depth. Returns null if one file is in a parent folder of the other. */
function siblings(from: string, to: string): [string, string] | null {
  const a = dirname(from).split('/')
  const b = dirname(to).split('/')
  const split = a.findIndex((name, i) => name !== b[i])
  if (split < 0 || split >= b.length) return null
  return [a.slice(0, split + 1).join('/'), b.slice(0, split + 1).join('/')]
}

/** Returns pairs of sibling folders that import each other, with the imports of the direction that has fewer imports. */
function twoWayFolders(): string[] {
  const between = new Map<string, string[]>()
  for (const [from, targets] of graph)
    for (const to of targets) {
      const key = siblings(from, to)?.join(' → ')
      if (key) between.set(key, [...(between.get(key) ?? []), `${from} → ${to}`])
    }
  return [...between].flatMap(([key, imports]) => {
    const reverse = key.split(' → ').toReversed().join(' → ')
    const back = between.get(reverse)
    const isReported = back && (imports.length < back.length || (imports.length === back.length && key < reverse))
    return isReported ? [`${key} (${imports.length} against ${back.length}): ${imports.join(', ')}`] : []
  })
}

function largeFolders(): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  const large = [...counts].filter(([folder, count]) => count > MAX_FOLDER && !LARGE_FOLDERS.test(folder))
  return large.map(([folder, count]) => `${folder} has ${count}`)
}

function tablesElsewhere(): string[] {
  return files.filter(
    (file) => /\bsqliteTable\(/.test(texts.get(file)!) && file.startsWith('src/') && !TABLES.test(file),
  )
}

const isBelow = (folder: string) => (file: string) => file.startsWith(`${folder}/`)
let hasFailed = false
function judge(text: string, isRight: boolean): void {
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${text}`)
  hasFailed ||= !isRight
}
/** Prints the faults. The check fails if there are any. */
function expectNone(rule: string, faults: string[]): void {
  judge(`${rule}: ${faults.length}${faults.map((fault) => `\n         ${fault}`).join('')}`, faults.length === 0)
}

const internals = files
  .filter(isBelow('src/studio'))
  .flatMap((file) => graph.get(file)!.filter((other) => /^src\/elements\/(player|uploader|waveform)\//.test(other)))
expectNone('internals of an element that the studio imports', internals)
expectNone('import cycles', cycles())
expectNone('sibling folders that import each other', twoWayFolders())
expectNone(`folders with more than ${MAX_FOLDER} files`, largeFolders())
expectNone('tables outside the schema folder', tablesElsewhere())
process.exitCode = hasFailed ? 1 : 0
