import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { NODE_FLAGS } from '../../container/process/node_flags.ts'
import { cpuSeconds, machineSeconds, type Peaks, watchPeaks } from '../process.ts'

/** Resources that one complete run used: wall-clock seconds, CPU seconds including all child processes, and bytes. */
export type Run = Peaks & {
  wall: number
  cpu: number
  /** CPU seconds used by other programs during the run. */
  others: number
}

export type Contestant = {
  pid: number
  /** Reads the next line of the process's standard output and parses it as JSON. */
  line: () => Promise<Record<string, unknown>>
  /** Measures the resources used by `work`. */
  measure: (work: () => Promise<void>) => Promise<Run>
  write: (text: string) => void
}

/** Runs a script in a process with a temporary directory and passes it to `use`. Afterward, stops the process and removes the directory. */
export async function withContestant<T>(
  script: string,
  signal: AbortSignal,
  use: (contestant: Contestant) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-bench-'))
  const env = { ...process.env, PORT: '0', WORK_DIR: directory, PARENT_PID: String(process.pid) }
  const child = spawn(process.execPath, [...NODE_FLAGS, script], {
    cwd: directory,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const end = () => child.kill('SIGINT')
  signal.addEventListener('abort', end)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const pid = child.pid!
  try {
    return await use({
      pid,
      async line() {
        const { value, done } = await lines.next()
        if (done) throw new Error(`${script} ended early`)
        return JSON.parse(value)
      },
      measure: (work) => measure(pid, directory, work),
      write: (text) => child.stdin.write(`${text}\n`),
    })
  } finally {
    signal.removeEventListener('abort', end)
    end()
    await exited
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(pid: number, directory: string, work: () => Promise<void>): Promise<Run> {
  const peaks = watchPeaks(pid, directory)
  try {
    const before = {
      cpu: cpuSeconds(pid),
      ours: cpuSeconds(process.pid),
      machine: machineSeconds(),
      at: performance.now(),
    }
    await work()
    const wall = (performance.now() - before.at) / 1000
    const cpu = cpuSeconds(pid) - before.cpu
    const ours = cpuSeconds(process.pid) - before.ours
    const others = Math.max(0, machineSeconds() - before.machine - cpu - ours)
    return { wall, cpu, others, ...peaks.stop() }
  } finally {
    peaks.stop()
  }
}
