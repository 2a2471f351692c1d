import { createInterface } from 'node:readline'

import { stopGroup } from './child.ts'

/**
 * Ends the children when `start.ts` cannot: it was killed with SIGKILL, or crashed. It reads `+pid` and `-pid` lines from its
 * standard input, which the system closes when `start.ts` is gone, however that happened.
 */
const groups = new Set<number>()
// Ctrl-C and closing terminals are the business of start.ts.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
}
await Promise.all([...groups].map((pid) => stopGroup(pid, 2000)))
