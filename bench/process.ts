import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

/** Reads process statistics from Linux's `/proc`. CPU times have a resolution of 10 ms unless noted otherwise. */

const TICKS = 100 // USER_HZ, the same on every architecture that Node runs on

/** Returns the CPU seconds, user and system, of a process and of all its children that have exited. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // utime, stime, cutime and cstime are fields 14 to 17 (proc(5)). The process name before them can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS
}

/**
 * Returns the CPU seconds of a process from the scheduler's statistics. These have a resolution of a nanosecond, but exclude threads that
 * have exited.
 */
export function threadSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  // A thread may end after it has been listed.
  const nanoseconds = threads.map((thread) => Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ', 1)[0]))
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9
}

/** Returns the CPU seconds that the machine has been busy, including time that its host gave to other machines (steal). */
export function machineSeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user! + nice! + system! + irq! + softirq! + steal!) / TICKS
}

/**
 * Starts to measure the CPU use of other programs, without this process and its children. The returned function returns the fraction of the
 * machine's CPU time, 0–1, that they have used since the start.
 */
export function watchOthers(children: () => number[]): () => number {
  const clocks = () => ({
    ours: [process.pid, ...children()].reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    machine: machineSeconds(),
    at: performance.now() / 1000,
  })
  const before = clocks()
  return () => {
    const now = clocks()
    const others = now.machine - before.machine - (now.ours - before.ours)
    return Math.max(0, others) / ((now.at - before.at) * availableParallelism())
  }
}

export type Peaks = {
  /** Maximum resident set size of the process, in bytes. */
  memory: number
  /** Maximum resident set size of a single descendant, in bytes. */
  childMemory: number
  /** Maximum disk space used by the directory of the process, in bytes. */
  disk: number
}

/** Watches a process, its descendants and its directory until `stop` is called, which returns the peaks. */
export function watchPeaks(pid: number, directory: string) {
  const peaks: Peaks = { memory: 0, childMemory: 0, disk: 0 }
  const sample = () => {
    peaks.memory = Math.max(peaks.memory, residentPeak(pid))
    for (const child of descendants(pid)) peaks.childMemory = Math.max(peaks.childMemory, residentPeak(child))
    peaks.disk = Math.max(peaks.disk, bytesIn(directory))
  }
  const timer = setInterval(sample, 100)
  return {
    stop(): Peaks {
      clearInterval(timer)
      sample()
      return peaks
    },
  }
}

// Returns the maximum resident set size so far, which the kernel records (VmHWM). So periodic samples are sufficient.
function residentPeak(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

// A child with the same executable as its parent is a fork that has not called exec yet, so it is skipped.
function descendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  const others = children.filter((child) => programOf(child) !== programOf(pid))
  return others.flatMap((child) => [child, ...descendants(child)])
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return ''
  }
}

// Returns the content of a file, or an empty string if it does not exist: a process may end at any moment.
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function bytesIn(directory: string): number {
  let bytes = 0
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name)
      bytes += entry.isDirectory() ? bytesIn(path) : statSync(path).blocks * 512
    }
  } catch {
    // A file was removed during the scan.
  }
  return bytes
}
