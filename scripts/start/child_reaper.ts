import { createInterface } from 'node:readline'

import { stopGroup } from '../shared/child_process.ts'

/**
 * Stops the children if `start.ts` cannot do this, because it crashed or was killed with SIGKILL. `start.ts` writes a line `+pid` when a
 * child starts and `-pid` when it has ended. The operating system closes the standard input when `start.ts` ends.
 */
const groups = new Set<number>()
// These signals are ignored, because start.ts handles Ctrl-C and the closing of the terminal.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
}
await Promise.all([...groups].map((pid) => stopGroup(pid, 2000)))
