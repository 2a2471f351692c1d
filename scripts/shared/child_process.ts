import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { withoutSecrets } from './terminal.ts'

/**
 * Child processes that never outlive this process. Each is the leader of a separate process group, so that its own children (workerd,
 * ffmpeg) are stopped with it. Ctrl-C therefore reaches only this process, which stops the children in order.
 */
export interface Child {
  pid: number
  /** The last lines of the process's output without secrets, for the error message when it fails. */
  tail: string[]
  exited: Promise<number | string>
  /** Resolves when the process has exited and all its output has been read. */
  closed: Promise<unknown>
  /** Stops the process and its group: sends SIGINT, and after a few seconds SIGKILL. */
  stop: () => Promise<void>
}

export interface ChildOptions {
  command: string[]
  env: NodeJS.ProcessEnv
  onLine: (line: string) => void
}

const root = join(import.meta.dirname, '../..')
const GRACE = 4000
const TAIL = 30

export function startChild({ command, env, onLine }: ChildOptions): Child {
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const tail: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      const line = withoutSecrets(text)
      tail.push(line)
      if (tail.length > TAIL) tail.shift()
      onLine(line)
    })
  }
  const exited = exitOf(child)
  const closed = new Promise((resolve) => child.once('close', resolve))
  if (!child.pid) throw new Error(`${program} cannot be started`)
  const pid = child.pid
  return { pid, tail, exited, closed, stop: () => stopGroup(pid) }
}

function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
    child.once('error', (error) => resolve(error.message))
  })
}

/** Sends a signal to every process of a group. Returns false when the group is empty. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Stops a process group: sends SIGINT, like Ctrl-C, and after a grace period SIGKILL. Resolves when the group is empty. */
export async function stopGroup(pid: number, grace = GRACE): Promise<void> {
  const deadline = Date.now() + grace
  for (let alive = signalGroup(pid, 'SIGINT'); alive; alive = signalGroup(pid, 0)) {
    if (Date.now() > deadline) signalGroup(pid, 'SIGKILL')
    // The wait has a limit, because a killed process counts as alive until init reaps it.
    if (Date.now() > deadline + grace) return
    await sleep(50)
  }
}
