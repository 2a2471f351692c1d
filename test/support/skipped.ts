import type { TestProject } from 'vitest/node'

/**
 * Lists after a run the tests that this machine skipped, and the reasons. Not a reporter, because `--reporter` replaces those of the
 * configuration.
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
