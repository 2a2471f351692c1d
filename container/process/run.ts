import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'

import { JobError } from '../job_error.ts'

/** The path of a program, or a command whose last element is the program, after wrappers and their arguments. */
export type Program = string | readonly string[]

/** The result of a process. `stderr` contains only the last 64 KB, because the tags of a source can be large. */
export type Exit = {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  /** Whether the process was killed because it wrote more than `stdoutLimit` bytes. */
  overflowed: boolean
  stdout: Buffer
  stderr: string
}

export type RunOptions = {
  cwd?: string
  signal?: AbortSignal
  /** Wall-clock seconds from the start until the process group is killed. If it is a function, it is called every second. */
  timeoutSeconds: number | (() => number)
  /**
   * Niceness from 0 (same as the service) to 19. With a lower priority than the service, ffmpeg does not delay health checks while it uses
   * every core. The default is 1, which is meant for short processes.
   */
  nice?: number
  /** All bytes of stdin, which is empty by default. */
  stdin?: Buffer
  /** Maximum number of bytes of stdout; ignored with `onStdout`. */
  stdoutLimit?: number
  /** Receives stdout in chunks. If it returns false, the process is killed. */
  onStdout?: (chunk: Buffer) => boolean
}

/**
 * GCONV_PATH disables the system's character set converters, which the MPEG-TS demuxer uses: statically linked builds of ffmpeg crash in
 * them, and no supported format needs them.
 */
const ENVIRONMENT = { PATH: process.env.PATH, GCONV_PATH: '/nonexistent' }
const STDERR_LIMIT = 65536
/** The message that ffmpeg prints after it has handled a signal. */
const SIGNAL_MESSAGE = /^Exiting normally, received signal \d+\.?\s*$/m
const running = new Set<number>()

/**
 * Runs a program with a minimal environment in a separate process group, and never leaves it running. Rejects when another program killed
 * the process, for example the OOM killer or a shutdown, because then the file is not the cause.
 */
export function run(program: Program, args: string[], options: RunOptions): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const [binary, ...wrapperArgs] = typeof program === 'string' ? [program] : program
    const child = spawn(binary!, [...wrapperArgs, ...args], {
      cwd: options.cwd,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: ENVIRONMENT,
    })
    const { pid } = child
    if (pid !== undefined) {
      running.add(pid)
      lowerPriority(pid, options.nice ?? 1)
    }
    let killedByUs = false
    const kill = () => {
      killedByUs = true
      if (pid !== undefined) killGroup(pid)
    }
    let timedOut = false
    let overflowed = false
    let stdout: Buffer[] = []
    let stdoutBytes = 0
    let stderr = Buffer.alloc(0)
    const stopClock = startClock(options.timeoutSeconds, () => {
      timedOut = true
      kill()
    })
    options.signal?.addEventListener('abort', kill)
    if (options.signal?.aborted) kill()

    // A program that ends early does not read all of it.
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin)
    child.stdout.on('data', (chunk: Buffer) => {
      if (options.onStdout) return void (options.onStdout(chunk) || kill())
      stdoutBytes += chunk.length
      if (stdoutBytes <= (options.stdoutLimit ?? 0)) return stdout.push(chunk)
      overflowed = true
      stdout = []
      return kill()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_LIMIT)
    })
    const cleanUp = () => {
      stopClock()
      options.signal?.removeEventListener('abort', kill)
      if (pid !== undefined) running.delete(pid)
    }
    child.on('error', (error) => {
      cleanUp()
      reject(error)
    })
    child.on('close', (code, signal) => {
      cleanUp()
      const wasKilled =
        signal === 'SIGKILL' || signal === 'SIGTERM' || (code !== 0 && SIGNAL_MESSAGE.test(stderr.toString()))
      if (wasKilled && !killedByUs) return reject(new JobError('killed', 'The decoder was killed from outside.', true))
      resolve({ code, signal, timedOut, overflowed, stdout: Buffer.concat(stdout), stderr: stderr.toString() })
    })
  })
}

/** Kills every process group that is still running. It is synchronous, so that it can run immediately before the process exits. */
export function killAll(): void {
  for (const pid of running) killGroup(pid)
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** Calls `onEnd` after the allowed seconds, unless the returned function is called before. */
function startClock(allowed: number | (() => number), onEnd: () => void): () => void {
  const started = performance.now()
  let timer: NodeJS.Timeout
  const check = () => {
    const msLeft = (typeof allowed === 'function' ? allowed() : allowed) * 1000 - (performance.now() - started)
    if (msLeft <= 0) return onEnd()
    timer = setTimeout(check, Math.min(msLeft, 1000))
  }
  check()
  return () => clearTimeout(timer)
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // Setting the priority is not permitted here, or the process has already ended.
  }
}
