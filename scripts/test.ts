import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * `npm test`: runs vitest, and prints the CPU and wall seconds of the run.
 *   npm test                     all tests
 *   npm test -- share            the test files with this word in their path, such as worker/share/… and e2e/share.test.ts
 *   npm test -- FILE --FLAG      arguments with a slash, a dot or a leading hyphen are passed on to vitest
 */

const root = join(import.meta.dirname, '..')

/** Returns the words in the path of a test file: `worker/webhooks/event_watch.test.ts` has worker, webhooks, event and watch. */
const wordsIn = (path: string) => path.replace(/\.test\.ts$/, '').split(/[/_\\]/)
const singular = (word: string) => word.replace(/s$/, '')

/** Replaces each word by the test files that have it in their path. Throws if there are none. */
function expandWords(given: string[]): string[] {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.test.ts'),
  )
  return given.flatMap((argument, i) => {
    // The value of a flag, such as `-t words`.
    if (/^-|[./]/.test(argument) || given[i - 1]?.startsWith('-')) return [argument]
    const found = files.filter((path) => wordsIn(path).map(singular).includes(singular(argument)))
    if (found.length > 0) return found.map((path) => `test/${path.replaceAll(sep, '/')}`)
    const words = [...new Set(files.flatMap(wordsIn))].toSorted()
    throw new Error(`No test file has the word "${argument}" in its path. The words: ${words.join(' ')}`)
  })
}

/** Returns the CPU seconds of all processes that this process has waited for, and of those that they have waited for. Processes that
 * outlive their parent are missing, a seventh of the time in the end-to-end tests. Null where Linux's /proc is missing. */
function childSeconds(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // Fields 16 and 17 of proc_pid_stat(5), in ticks. Linux has 100 of them per second.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number)
    return (user! + system!) / 100
  } catch {
    return null
  }
}

function run(args: string[]): void {
  const started = performance.now()
  const vitest = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], {
    stdio: 'inherit',
  })
  // A terminal sends Ctrl-C to vitest as well, which stops its processes before it exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => signal === 'SIGINT' || vitest.kill(signal))
  vitest.once('close', (code) => {
    const wall = `${((performance.now() - started) / 1000).toFixed(0)} s of wall time`
    const cpu = childSeconds()
    console.log(cpu === null ? `npm test: ${wall}` : `npm test: ${cpu.toFixed(0)} s of CPU time, ${wall}`)
    process.exitCode = code ?? 1
  })
}

try {
  run(expandWords(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
