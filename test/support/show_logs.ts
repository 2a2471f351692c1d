import { afterAll, beforeEach } from 'vitest'

import { logs } from './logs.ts'

/** Set-up of every file: a test that fails shows what the processes it worked with printed while it ran. */

/** Characters shown of each log, its end. */
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

// The next file of this process has its own.
afterAll(() => logs.clear())
