import { readFile } from 'node:fs/promises'

import { descendants } from './processes.ts'

/** Peak resident set sizes in MB: that of the service, and the maximum of all processes that it started. */
export type Peak = { service: number; child: number }

const INTERVAL_MS = 25

/** Watches a process and its descendants until `stop`. Linux keeps a high-water mark per process (proc(5), VmHWM). */
export function watchMemory(pid: number) {
  const peak: Peak = { service: 0, child: 0 }
  const stopping = new AbortController()
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      peak.service = Math.max(peak.service, await highWater(pid))
      for (const child of await descendants(pid)) peak.child = Math.max(peak.child, await highWater(child))
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
    }
  })()
  return {
    async stop(): Promise<Peak> {
      stopping.abort()
      await watching
      return peak
    },
  }
}

async function highWater(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}
