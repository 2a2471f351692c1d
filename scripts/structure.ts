import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * The shape of the browser's code: files and imports of player, uploader and client, circles (imports of types count), and what the studio
 * takes from inside an element. Prints all of it, and fails above a limit.
 */

const root = join(import.meta.dirname, '..')
const COUNTED = ['src/client', 'src/elements/player', 'src/elements/uploader']
/** Where circles are looked for: with what these import. */
const GRAPH = ['src/client', 'src/elements', 'src/studio', 'src/contract']
const MAX_FILES = 45
const MAX_IMPORTS = 100

const files = GRAPH.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts')),
)

/** Every file that a file names in an import, whatever it takes from there. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.tsx?)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  )
  return [...new Set(found)]
}
const graph = new Map(files.map((file) => [file, importsOf(file)]))

/** Files that lead back to themselves, each circle once. */
function circles(): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  function walk(file: string, path: string[]): void {
    const at = path.indexOf(file)
    if (at >= 0) return void found.push([...path.slice(at), file])
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  return found
}

const isIn = (folder: string) => (file: string) => file.startsWith(`${folder}/`)
const faults: string[] = []
function judge(text: string, isRight: boolean): void {
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${text}`)
  if (!isRight) faults.push(text)
}

for (const folder of [...COUNTED, 'src/elements/shared', 'src/elements/texts']) {
  const own = files.filter(isIn(folder))
  const within = own.flatMap((file) => graph.get(file)!.filter(isIn(folder)))
  console.log(`       ${folder}: ${own.length} files, ${within.length} imports within`)
}
const counted = files.filter((file) => COUNTED.some((folder) => isIn(folder)(file)))
const between = counted.flatMap((file) => graph.get(file)!.filter((other) => counted.includes(other)))
judge(`${counted.length} of ${MAX_FILES} files of player, uploader and client`, counted.length <= MAX_FILES)
judge(`${between.length} of ${MAX_IMPORTS} imports between them`, between.length <= MAX_IMPORTS)
const all = circles()
judge(`${all.length} circles${all.map((circle) => `\n         ${circle.join(' → ')}`).join('')}`, all.length === 0)
const inside = files
  .filter(isIn('src/studio'))
  .flatMap((file) => graph.get(file)!.filter((other) => /^src\/elements\/(player|uploader|waveform)\//.test(other)))
judge(`${inside.length} files of an element that the studio imports: ${inside.join(', ')}`, inside.length === 0)
process.exitCode = faults.length === 0 ? 0 : 1
