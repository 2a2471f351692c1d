import { afterAll, beforeEach } from 'vitest'

import { logs } from './logs.ts'

/** Vitest runs this setup for every test file. A failing test shows what its processes wrote during the test. */

/** Maximum number of characters that are shown from the end of each log. */
const SHOWN = 20_000

beforeEach(({ onTestFailed }) => {
  const before = new Map([...logs].map(([name, read]) => [name, read().length]))
  onTestFailed(() => {
    for (const [name, read] of logs) {
      const text = read().slice(before.get(name) ?? 0)
      if (text) console.error(`--- ${name} meanwhile:\n${text.slice(-SHOWN)}`)
    }
  })
})

// The next test file in this process registers its own logs.
afterAll(() => logs.clear())
