import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

import { startBusyLoop } from './machines/busy_core.ts'

/**
 * `npm run repeat -- worker 20 [--busy] [FILES…]`: runs the tests of a project many times, reports the tests with varying outcomes, and
 * lists the slowest. With `--busy`, a background load keeps every core busy during half of the runs.
 */

interface Report {
  testResults: {
    name: string
    status: string
    assertionResults: {
      fullName: string
      status: string
      duration?: number | null
      failureMessages?: string[] | null
    }[]
    message?: string
  }[]
}
interface History {
  outcomes: string[]
  /** Maximum duration of the test in milliseconds. */
  duration: number
}

const root = join(import.meta.dirname, '..')
const SLOWEST = 30

const { values, positionals } = parseArgs({ allowPositionals: true, options: { busy: { type: 'boolean' } } })
const [project = '', count = '1', ...files] = positionals
const times = Number(count)
if (!['worker', 'contract', 'browser', 'container', 'e2e'].includes(project) || !(times >= 1)) {
  console.error('npm run repeat -- <worker | contract | browser | container | e2e> <times> [--busy] [files…]')
  process.exit(2)
}

const histories = new Map<string, History>()
const broken: string[] = []
for (let run = 1; run <= times; run++) {
  const isBusy = values.busy === true && run % 2 === 0
  const started = Date.now()
  const report = await runOnce(isBusy)
  const failed = report ? record(report) : 0
  const seconds = Math.round((Date.now() - started) / 1000)
  if (!report) broken.push(`run ${run} wrote no report`)
  console.log(`${project} ${run} of ${times}${isBusy ? ', busy' : ''}: ${seconds} s, ${report ? failed : 'all'} failed`)
}

const unequal = [...histories].filter(
  ([, { outcomes }]) => outcomes.length < times - broken.length || new Set(outcomes).size > 1,
)
const failing = [...histories].filter(([, { outcomes }]) => outcomes.every((outcome) => outcome === 'failed'))
const slowest = [...histories].toSorted((a, b) => b[1].duration - a[1].duration).slice(0, SLOWEST)
console.log(`\nThe slowest of ${histories.size} tests, each at its longest:`)
for (const [name, { duration }] of slowest) console.log(`${(duration / 1000).toFixed(1).padStart(7)} s  ${name}`)
for (const [name, { outcomes }] of unequal) console.log(`not the same every time: ${name}: ${outcomes.join(' ')}`)
for (const [name] of failing) console.log(`failed every time: ${name}`)
for (const message of broken) console.log(message)
console.log(`\n${times} runs, ${unequal.length} tests that differ, ${failing.length} that always fail`)
process.exitCode = unequal.length + failing.length + broken.length > 0 ? 1 : 0

/** Runs the project's tests. Returns vitest's report, or null if vitest wrote none. */
async function runOnce(isBusy: boolean): Promise<Report | null> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-repeat-'))
  const file = join(directory, 'report.json')
  const spinners = isBusy ? Array.from({ length: availableParallelism() }, startBusyLoop) : []
  try {
    const reporters = ['--reporter=json', `--outputFile.json=${file}`]
    const command = ['run', '--project', project, ...reporters, ...files]
    const vitest = spawn(join(root, 'node_modules/.bin/vitest'), command, { cwd: root, stdio: 'inherit' })
    await new Promise((resolve) => vitest.once('close', resolve))
    return JSON.parse(await readFile(file, 'utf8')) as Report
  } catch {
    return null
  } finally {
    for (const child of spinners) child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
}

/** Records the outcomes of a run. Returns the number of failed tests. */
function record({ testResults }: Report): number {
  let failed = 0
  for (const { name, status, message = '', assertionResults } of testResults) {
    const path = relative(join(root, 'test'), name)
    // A test file whose setup fails contains no failed test.
    const isBroken = assertionResults.length === 0 && status === 'failed'
    const fileResult = {
      fullName: '(the file)',
      status: isBroken ? status : 'passed',
      duration: 0,
      failureMessages: [message],
    }
    for (const test of [fileResult, ...assertionResults]) {
      const key = `${path} > ${test.fullName}`
      const history = histories.get(key) ?? { outcomes: [], duration: 0 }
      history.outcomes.push(test.status)
      history.duration = Math.max(history.duration, test.duration ?? 0)
      histories.set(key, history)
      if (test.status !== 'failed') continue
      failed++
      console.log(`failed: ${key}\n${test.failureMessages?.join('\n') ?? ''}`)
    }
  }
  return failed
}
