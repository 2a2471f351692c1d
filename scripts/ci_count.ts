import { readFileSync } from 'node:fs'

/**
 * Prints `N passed, N failed`, plus `, N skipped` if there are any, and exits with 1 unless everything passed. Arguments: the exit code of
 * `npm run check`, and then, for each test run, the path of vitest's JSON report and vitest's exit code.
 */
const [check, ...runs] = process.argv.slice(2)

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number }

function read(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 }
  }
}

let [passed, failed, skipped] = [0, 0, 0]
if (check !== '0') {
  console.log('npm run check failed')
  failed++
}
if (runs.length === 0) failed++
for (let i = 0; i < runs.length; i += 2) {
  const { numPassedTests, numFailedTests, numPendingTests } = read(runs[i]!)
  const code = runs[i + 1]
  passed += numPassedTests
  failed += numFailedTests
  skipped += numPendingTests
  if (code !== '0') console.log(`the tests of run ${i / 2 + 1} ended with ${code}`)
  // A run can fail without a failed test, for example because of a type error or a crash.
  if (numFailedTests === 0 && (code !== '0' || numPassedTests === 0)) failed++
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0
