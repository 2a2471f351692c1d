import type { TestProject } from 'vitest/node'

/**
 * After a run, lists the tests that were skipped on this machine, and the reasons. It is not a reporter, because
 * `--reporter` replaces the reporters of the configuration.
 */
export default function listSkipped({ vitest }: TestProject) {
  return () => {
    const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests('skipped')])
    const lines = tests.flatMap((test) => {
      const result = test.result()
      return result.state === 'skipped' && result.note ? [`skipped: ${test.fullName}: ${result.note}`] : []
    })
    if (lines.length > 0) console.log(`\n${lines.join('\n')}`)
  }
}
