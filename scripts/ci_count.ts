import { readFileSync } from 'node:fs'

/** Prints `N passed, N failed`, and `, N skipped` where some were, from vitest's JSON report and ends as `npm run check` and `npm test` did. */
const [file = '', check = '1', test = '1'] = process.argv.slice(2)

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number }

function read(): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 }
  }
}

const { numPassedTests, numFailedTests, numPendingTests } = read()
// A step that failed without a failing test (types, a crash) is a failure too.
const broken = check !== '0' || (test !== '0' && numFailedTests === 0) || numPassedTests === 0
if (check !== '0') console.log('npm run check failed')
if (test !== '0') console.log('npm test failed')
const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
console.log(`${numPassedTests} passed, ${numFailedTests + (broken ? 1 : 0)} failed${skipped}`)
process.exitCode = broken || numFailedTests > 0 ? 1 : 0
