import { afterAll, beforeEach } from 'vitest'

import { logs } from './logs.ts'

/** Setup of every file: a failing test shows the output of its processes during the test. */

/** Maximum number of characters of each log, from its end. */
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

// The next file of this process registers its own logs.
afterAll(() => logs.clear())
