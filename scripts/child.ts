import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Child processes that never outlive us. Each leads a process group of its own, so that what it starts itself (workerd, ffmpeg)
 * ends with it, and so that Ctrl-C reaches only us, who then end them in an orderly way.
 */
export interface Child {
  pid: number
  /** The last lines it wrote, for when it fails. */
  tail: string[]
  exited: Promise<number | string>
  /** After its end, when all it wrote has been read. */
  closed: Promise<unknown>
  /** Ends it and its whole group: SIGINT, and SIGKILL for what is left after a few seconds. */
  stop: () => Promise<void>
}

export interface ChildOptions {
  command: string[]
  env: NodeJS.ProcessEnv
  onLine: (line: string) => void
}

const root = join(import.meta.dirname, '..')
const GRACE = 4000
const TAIL = 30

export function startChild({ command, env, onLine }: ChildOptions): Child {
  const [program = '', ...rest] = command
  const child = spawn(program, rest, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const tail: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
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

/** Sends a signal to every process of a group; false when there is none left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** What Ctrl-C does to a group, then SIGKILL to what is left of it after a grace period; returns when it is empty. */
export async function stopGroup(pid: number, grace = GRACE): Promise<void> {
  const deadline = Date.now() + grace
  for (let alive = signalGroup(pid, 'SIGINT'); alive; alive = signalGroup(pid, 0)) {
    if (Date.now() > deadline) signalGroup(pid, 'SIGKILL')
    // A killed process that nobody has waited for still counts as alive; init takes care of it.
    if (Date.now() > deadline + grace) return
    await sleep(50)
  }
}
