import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { showLog } from './logs.ts'

/**
 * The whole system as `npm start` runs it: scripts/start.ts on free ports, with a separate database. The stack watches
 * the process that started it (scripts/start/parent_watch.ts) and ends when that process ends, even if it is a test
 * runner that was killed.
 */
export interface Stack {
  base_url: string
  organization_id: string
  /** The demo organization's server key. */
  api_key: string
  root_key: string
  state_dir: string
  ports: { PORT: number; TRANSCODER_PORT: number }
  /** Returns the id of the current transcoder process. It changes if the process is killed. */
  transcoder: () => number
  /** Returns the output so far. */
  output: () => string
  /** Stops the stack like Ctrl-C. Resolves with the exit code. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>
  /** Kills all processes at once, as in a power failure. */
  killAll: () => Promise<void>
  /** Stops the stack and deletes its data. */
  dispose: () => Promise<void>
}

interface Ready {
  base_url: string
  organization_id?: string
  secret?: string
}
type Message = { ready?: Ready; worker?: number; transcoder?: number }

const root = join(import.meta.dirname, '../..')

/**
 * Starts a stack and waits until it is ready. `state_dir` is the data of an earlier stack; `log` is the path of a file for the output. With `isEmpty`,
 * no demo organization is created.
 */
export async function startStack(
  options: { state_dir?: string; log?: string; isEmpty?: boolean; settings?: Record<string, string> } = {},
): Promise<Stack> {
  const state_dir = options.state_dir ?? (await mkdtemp(join(tmpdir(), 'tonearm-stack-')))
  const [PORT, TRANSCODER_PORT] = await freePorts()
  const root_key = randomBytes(24).toString('hex')
  const child = run(
    {
      PORT,
      TRANSCODER_PORT,
      STATE_DIR: state_dir,
      ROOT_KEY: root_key,
      ...options.settings,
      ...(options.isEmpty && { EMPTY: 1 }),
    },
    options.log,
  )
  showLog(`the stack on port ${PORT}`, child.output)
  const groups = { worker: 0, transcoder: 0 }
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.process.on('message', (message: Message) => {
      Object.assign(groups, message)
      if (message.ready) resolve(message.ready)
    })
    child.process.once('exit', (code) => reject(new Error(`npm start ended (${code}):\n${child.output()}`)))
  })

  async function stop(signal: NodeJS.Signals = 'SIGINT') {
    if (child.process.exitCode === null) child.process.kill(signal)
    return await child.exited
  }
  async function killAll() {
    child.process.kill('SIGKILL')
    for (const pid of [groups.worker, groups.transcoder]) killGroup(pid)
    await child.exited
  }
  async function dispose() {
    await stop()
    await rm(state_dir, { recursive: true, force: true })
  }
  return {
    base_url: ready.base_url,
    organization_id: ready.organization_id ?? '',
    api_key: ready.secret ?? '',
    root_key,
    state_dir,
    ports: { PORT, TRANSCODER_PORT },
    transcoder: () => groups.transcoder,
    output: child.output,
    stop,
    killAll,
    dispose,
  }
}

/** Runs scripts/start.ts with an environment, and returns without waiting. `log` is the path of a file for the output. */
export function run(environment: Record<string, string | number>, log?: string) {
  // Caching is off, because tests end sessions directly in the database. Responses are validated. The logs are verbose
  // for failing tests, which show them (show_logs.ts).
  const defaults = { VERBOSE: '1', WRANGLER_LOG: 'log', CHECK_ANSWERS: 'true', REUSE_ANSWERS: 'false', DEMO_TRACK: '0' }
  const env = { ...process.env, ...defaults, ...environment, PARENT_PID: String(process.pid) } as NodeJS.ProcessEnv
  const child: ChildProcess = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (log) appendFileSync(log, part)
    })
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { process: child, exited, output: () => text }
}

/** Returns the processes of a state directory, which it finds by their environment. That works only on Linux; elsewhere the list is empty. */
export async function processesOf(state_dir: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
  const found = pids.map(async (pid) => {
    const [environment, command] = await Promise.all([read(pid, 'environ'), read(pid, 'cmdline')])
    const isOwn = environment.includes(`STATE_DIR=${state_dir}\0`) || command.includes(state_dir)
    return isOwn ? `${pid} ${command.replaceAll('\0', ' ')}` : ''
  })
  return (await Promise.all(found)).filter(Boolean)
}

function killGroup(pid: number): void {
  try {
    if (pid > 1) process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}

/** Returns two ports on which nothing listens. */
export async function freePorts(): Promise<[number, number]> {
  return [await freePort(11_000), await freePort(21_000)]
}

/**
 * Returns a free port among the ten thousand from `from` on. Ports from 32768 on are avoided, because the system
 * assigns those itself and could assign one before it is used here.
 */
export async function freePort(from: number): Promise<number> {
  const port = from + randomInt(10_000)
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort(from)
  await new Promise((resolve) => server.close(resolve))
  return port
}
