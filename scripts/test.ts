import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/**
 * `npm test`: runs vitest, and prints the CPU and wall seconds of the run.
 *   npm test                     all tests
 *   npm test -- share            the test files with this word in their path, such as worker/share/… and e2e/share.test.ts
 *   npm test -- studio_lists     the same for several words
 *   npm test -- FILE --FLAG      arguments with a slash or a dot, flags and their values are passed on to vitest
 */

const root = join(import.meta.dirname, '..')
/** Flags of vitest whose value is the next argument. */
const WITH_VALUE =
  /^(-t|-r|-c|--(testNamePattern|project|shard|reporter|retry|root|config|maxWorkers|bail|pool|outputFile))$/

/** Returns the words in a path: `worker/webhooks/event_watch` has worker, webhooks, event and watch. */
const wordsIn = (path: string) => path.split(/[/_\\]/)
/** Joins words, in the singular, so that one list of words contains another if its text does. */
const textOf = (words: string[]) => ` ${words.map((word) => word.replace(/s$/, '')).join(' ')} `

/** Replaces each word with the test files that have it in their path. Throws if no file has it. */
function expandWords(given: string[]): string[] {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => path.replaceAll(sep, '/'))
  const named = files.map((path) => ({ path, words: wordsIn(path.replace('.test.ts', '')) }))
  return given.flatMap((argument, i) => {
    if (/^-|[./]/.test(argument) || WITH_VALUE.test(given[i - 1] ?? '')) return [argument]
    const found = named.filter(({ words }) => textOf(words).includes(textOf(wordsIn(argument))))
    if (found.length > 0) return found.map(({ path }) => `test/${path}`)
    const all = [...new Set(named.flatMap(({ words }) => words))].toSorted()
    throw new Error(`No test file has "${argument}" in its path.\nThe words: ${all.join(' ')}`)
  })
}

const hasPerl = process.platform === 'linux' && spawnSync('perl', ['-e', '1']).status === 0

function run(args: string[]): void {
  const started = performance.now()
  const vitest = [process.execPath, join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args]
  const counter = hasPerl ? ['perl', join(import.meta.dirname, 'shared/cpu_seconds.pl'), process.arch] : []
  const [program = '', ...rest] = [...counter, ...vitest]
  const child = spawn(program, rest, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] })
  const cpu = text(child.stdio[3] as Readable)
  // A terminal also sends Ctrl-C to vitest, which stops its processes before it exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)))
  const print = async (code: number | null) => {
    const wall = `${((performance.now() - started) / 1000).toFixed(0)} s of wall time`
    const seconds = Number(await cpu)
    console.log(seconds > 0 ? `npm test: ${seconds.toFixed(0)} s of CPU time, ${wall}` : `npm test: ${wall}`)
    process.exitCode = code ?? 1
  }
  child.once('close', (code) => void print(code))
}

try {
  run(expandWords(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
