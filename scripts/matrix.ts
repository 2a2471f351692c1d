import { spawnSync } from 'node:child_process'
import { chmodSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { startBusyLoop } from './machines/busy_core.ts'
import {
  clonePath,
  CONDITIONS,
  environmentOf,
  type Workspace,
  ROWS,
  toolDirectory,
  TOOLS,
} from './machines/conditions.ts'
import { type Child, startChild } from './shared/child_process.ts'
import { root } from './shared/settings.ts'

/**
 * `npm run matrix`: runs the tests on simulated machines. Each row is a clean clone of the last commit, in which `npm ci` and `npm test`
 * run under the conditions of the row. A row takes as long as `npm test`, and a minute for `npm ci`.
 *   npm run matrix                                          all rows
 *   npm run matrix -- user+path west                        only these two rows
 *   npm run matrix -- docker --tests "confine disk"         only test files that match one of these names
 *   npm run matrix -- --list                                lists the rows and conditions
 */

type RowResult = { name: string; passed: number; failed: string[]; skipped: string[]; minutes: number }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', default: '' }, list: { type: 'boolean', default: false } },
})
const base = mkdtempSync(join(tmpdir(), 'tonearm-matrix-'))
chmodSync(base, 0o755)
let running: Child | undefined
process.on('exit', () => rmSync(base, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void Promise.resolve(running?.stop()).then(() => process.exit(130)))

async function runRow(name: string): Promise<RowResult> {
  const row: Workspace = { conditions: name.split('+'), directory: mkdtempSync(join(base, 'row-')) }
  const clone = clonePath(row)
  const results = join(row.directory, 'results.json')
  const env = environmentOf(row)
  run('git', 'clone', '--quiet', '--no-hardlinks', root, clone)
  if (row.conditions.includes('user') && process.getuid?.() === 0) run('chown', '-R', '12345:12345', row.directory)
  chmodSync(row.directory, 0o755)

  mkdirSync(join(root, '.cache/matrix'), { recursive: true })
  const log = createWriteStream(join(root, `.cache/matrix/${name}.log`))
  console.log(`${name}: ${String(log.path)}`)
  const skipped: string[] = []
  const startedAt = Date.now()
  const onLine = (line: string) => {
    log.write(`${line}\n`)
    if (line.startsWith('skipped: ')) skipped.push(line.slice(9))
  }
  const step = async (conditions: string[], ...command: string[]) => {
    const machine = [join(root, 'scripts/machines/machine.sh'), conditions.join('+')]
    running = startChild({ command: ['sh', '-c', 'cd "$0" && exec "$@"', clone, ...machine, ...command], env, onLine })
    const code = await running.exited
    await running.stop()
    await running.closed
    return code
  }
  const spinners = row.conditions.includes('busy') ? [1, 2, 3, 4].map(startBusyLoop) : []
  try {
    // `npm ci` runs without the condition `ipv4`, under which the registry is unreachable.
    const installed = await step(
      row.conditions.filter((condition) => condition !== 'ipv4'),
      'npm',
      'ci',
    )
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
    const tests = values.tests.split(' ').filter(Boolean)
    const code = installed === 0 ? await step(row.conditions, 'npm', 'test', '--', ...reporters, ...tests) : installed
    return { name, skipped, minutes: (Date.now() - startedAt) / 60_000, ...countOf(results, code) }
  } finally {
    for (const spinner of spinners) spinner.kill()
    log.end()
    rmSync(row.directory, { recursive: true, force: true })
  }
}

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`)
}

type Report = { numPassedTests: number; testResults: { assertionResults: { status: string; fullName: string }[] }[] }

function countOf(file: string, code: number | string): Pick<RowResult, 'passed' | 'failed'> {
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    const failed = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
    // The command can fail without a failed test, for example because of an error between tests.
    return {
      passed: numPassedTests,
      failed: code !== 0 && failed.length === 0 ? [`npm test ended with ${code}`] : failed,
    }
  } catch {
    return { passed: 0, failed: [`npm ci && npm test ended with ${code}`] }
  }
}

function print(rows: RowResult[]): void {
  const width = Math.max(...rows.map(({ name }) => name.length))
  console.log(`\n${'row'.padEnd(width)}  passed  failed  skipped  minutes`)
  for (const { name, passed, failed, skipped, minutes } of rows) {
    const numbers = [`${passed}`.padStart(6), `${failed.length}`.padStart(6), `${skipped.length}`.padStart(7)]
    console.log(`${name.padEnd(width)}  ${numbers.join('  ')}  ${minutes.toFixed(1).padStart(7)}`)
    for (const test of failed) console.log(`  failed: ${test}`)
    for (const test of skipped) console.log(`  skipped: ${test}`)
  }
}

const rowNames = positionals.length > 0 ? positionals : ROWS
const unknown = rowNames.flatMap((name) => name.split('+')).filter((condition) => !(condition in CONDITIONS))
if (unknown.length > 0) throw new Error(`No such condition: ${unknown.join(', ')}. npm run matrix -- --list`)
if (values.list) {
  for (const [name, description] of Object.entries(CONDITIONS)) console.log(`${name.padEnd(10)}  ${description}`)
  console.log(`\nRows:\n${ROWS.join('\n')}`)
} else {
  // Checks the requirements of all rows before the first row runs.
  for (const name of rowNames) {
    run('sh', join(root, 'scripts/machines/machine.sh'), name, 'true')
    for (const condition of name.split('+')) if (condition in TOOLS) toolDirectory(condition)
  }
  const rows: RowResult[] = []
  for (const name of rowNames) rows.push(await runRow(name))
  print(rows)
  process.exitCode = rows.every(({ failed }) => failed.length === 0) ? 0 : 1
}
