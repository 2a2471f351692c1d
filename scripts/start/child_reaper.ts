import { createInterface } from 'node:readline'

import { stopGroup } from '../shared/child_process.ts'

/**
 * Stops the children when `start.ts` cannot, because it crashed or was killed with SIGKILL. It reads `+pid` and `-pid` lines from its
 * standard input, which the system closes whenever `start.ts` ends.
 */
const groups = new Set<number>()
// start.ts handles Ctrl-C and closing terminals.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
}
await Promise.all([...groups].map((pid) => stopGroup(pid, 2000)))
