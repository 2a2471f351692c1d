import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'

/** How a process ended; `stderr` is its last 64 KB, because tags of the source can flood it. */
export type Exit = {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  /** True when it wrote more than `stdoutLimit` bytes and was killed for it. */
  overflowed: boolean
  stdout: Buffer
  stderr: string
}

export type RunOptions = {
  cwd?: string
  signal?: AbortSignal
  /** Wall-clock seconds until the process group is killed. */
  timeoutSeconds: number
  /** Bytes of stdout to keep; ignored with `onStdout`. */
  stdoutLimit?: number
  /** Takes stdout as it comes; answering false kills the process. */
  onStdout?: (chunk: Buffer) => boolean
}

const STDERR_KEPT = 65536
const running = new Set<number>()

/** Runs a program in its own process group with an empty environment, and never leaves it behind. */
export function run(binary: string, args: string[], options: RunOptions): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, {
      cwd: options.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH },
    })
    const { pid } = child
    if (pid !== undefined) {
      running.add(pid)
      lowerPriority(pid)
    }
    const kill = () => pid !== undefined && killGroup(pid)
    let timedOut = false
    let overflowed = false
    let stdout: Buffer[] = []
    let stdoutBytes = 0
    let stderr = Buffer.alloc(0)
    const timer = setTimeout(() => {
      timedOut = true
      kill()
    }, options.timeoutSeconds * 1000)
    options.signal?.addEventListener('abort', kill)
    if (options.signal?.aborted) kill()

    child.stdout.on('data', (chunk: Buffer) => {
      if (options.onStdout) return options.onStdout(chunk) || kill()
      stdoutBytes += chunk.length
      if (stdoutBytes <= (options.stdoutLimit ?? 0)) return stdout.push(chunk)
      overflowed = true
      stdout = []
      return kill()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_KEPT)
    })
    const settle = () => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', kill)
      if (pid !== undefined) running.delete(pid)
    }
    child.on('error', (error) => {
      settle()
      reject(error)
    })
    child.on('close', (code, signal) => {
      settle()
      resolve({ code, signal, timedOut, overflowed, stdout: Buffer.concat(stdout), stderr: stderr.toString() })
    })
  })
}

/** Kills every process group that is still running; synchronous, for the moment before exit. */
export function killAll(): void {
  for (const pid of running) killGroup(pid)
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

// The service must answer health checks and pings while every core encodes.
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 10)
  } catch {
    // Not allowed here, or gone already.
  }
}
