import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { freePorts } from '../test/support/stack.ts'

/** The processes of `npm start`, with data that outlives them. Each process can be killed separately (Linux only). */
export interface Stack extends Caller {
  root_key: string
  /** Starts the stack with the data of the previous run. */
  start: () => Promise<void>
  /** Kills one process of the stack. Returns false if it is not running. */
  kill: (part: Part) => boolean
  /** Kills all processes at once, as a power failure would, and waits until none is left. */
  killAll: () => Promise<void>
  stop: () => Promise<void>
}

/** A base URL and an organization's key. */
export interface Caller {
  base_url: string
  api_key: string
  /** Called for each response to `call`, with its body. */
  onResponse?: (response: Response, body: string) => void
}

export type Part = 'runtime' | 'proxy' | 'transcoder' | 'ffmpeg'

interface Process {
  pid: number
  parent: number
  startedAt: number
  command: string
}

/**
 * Lists the processes that belong to a STATE_DIR. Each has the directory in its environment or arguments, except ffmpeg, which is found by
 * its parent process.
 */
function processesOf(state_dir: string): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const all = pids.flatMap((pid) => {
    try {
      const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1')
      const command = read('cmdline').replaceAll('\0', ' ')
      const isNamed = read('environ').includes(`STATE_DIR=${state_dir}\0`) || command.includes(state_dir)
      // The process name before these fields can contain spaces (proc(5)).
      const fields = read('stat').split(') ').at(-1)?.split(' ') ?? []
      if (fields[0] === 'Z') return []
      return [{ pid: Number(pid), parent: Number(fields[1]), startedAt: Number(fields[19]), command, isNamed }]
    } catch {
      return []
    }
  })
  const named = new Set(all.filter(({ isNamed }) => isNamed).map(({ pid }) => pid))
  return all.filter(({ pid, parent }) => named.has(pid) || named.has(parent))
}

/** Calls the API. Returns null if the request fails. */
export async function call<T>(
  { base_url, api_key, onResponse }: Caller,
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<T | null> {
  const headers = {
    authorization: `Bearer ${api_key}`,
    'content-type': 'application/json',
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  }
  const init = { method: body ? 'POST' : 'GET', headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(`${base_url}/v1${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
  const answer = await response.text()
  onResponse?.(response, answer)
  return response.ok ? (JSON.parse(answer) as T) : null
}

/** Response of `POST /v1/track`. */
export interface Created {
  track_id: string
  track_upload: { method: string; upload_url: string }
}

/** Uploads a file or a part to a signed URL. Returns the ETag, or null if the upload was rejected. */
export async function put(url: string, file: Uint8Array<ArrayBuffer>, seconds = 30): Promise<string | null> {
  const response = await fetch(url, { method: 'PUT', body: file, signal: AbortSignal.timeout(seconds * 1000) })
  await response.body?.cancel()
  return response.ok ? response.headers.get('etag') : null
}

/** Uploads a file to the upload URL of a new track. Returns false if the file was rejected. */
export const send = async ({ track_upload }: Created, file: Uint8Array<ArrayBuffer>, seconds = 30): Promise<boolean> =>
  (await put(track_upload.upload_url, file, seconds)) !== null

const root = join(import.meta.dirname, '..')

/** Prepares a stack on free ports without starting it. `say` receives the output of its processes. */
export async function prepareStack(state_dir: string, say: (text: string) => void): Promise<Stack> {
  const [PORT, TRANSCODER_PORT] = await freePorts()
  let child: ChildProcess | undefined
  const groups = { worker: 0, transcoder: 0 }
  const stack: Stack = {
    base_url: `http://localhost:${PORT}`,
    api_key: '',
    root_key: randomBytes(24).toString('hex'),
    async start() {
      const env = {
        ...process.env,
        PORT: `${PORT}`,
        TRANSCODER_PORT: `${TRANSCODER_PORT}`,
        STATE_DIR: state_dir,
        ROOT_KEY: stack.root_key,
        PARENT_PID: `${process.pid}`,
        DEMO_TRACK: '0',
      }
      const started = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      child = started
      let tail = ''
      for (const stream of [started.stdout, started.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          tail = (tail + text).slice(-2000)
          say(text)
        })
      await new Promise<void>((resolve, reject) => {
        started.on('message', (message: { ready?: { secret: string }; worker?: number; transcoder?: number }) => {
          Object.assign(groups, message)
          if (!message.ready) return
          stack.api_key = message.ready.secret
          resolve()
        })
        started.once('exit', (code) => reject(new Error(`npm start ended (${code}):\n${tail}`)))
      })
    },
    kill(part) {
      const all = processesOf(state_dir).toSorted((a, b) => a.startedAt - b.startedAt)
      const named = (name: string) => all.filter(({ command }) => command.includes(name))
      // The first workerd process that wrangler starts is the proxy, and the last one runs the Worker.
      const target = {
        proxy: () => named('workerd serve')[0],
        runtime: () => named('workerd serve').at(-1),
        transcoder: () => all.find(({ pid }) => pid === groups.transcoder),
        ffmpeg: () => named('ffmpeg ').findLast(({ command }) => /^\S*ffmpeg /.test(command)),
      }[part]()
      if (!target || (part === 'runtime' && named('workerd serve').length < 2)) return false
      return tryKill(target.pid)
    },
    async killAll() {
      const ended = child ? once(child, 'exit') : undefined
      tryKill(child?.pid ?? 0)
      for (const pid of [groups.worker, groups.transcoder]) tryKill(-pid)
      await ended
      await untilGone(state_dir)
    },
    async stop() {
      if (!child || child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
      await untilGone(state_dir)
    },
  }
  return stack
}

function tryKill(pid: number): boolean {
  if (Math.abs(pid) < 2) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false
  }
}

async function untilGone(state_dir: string): Promise<void> {
  while (processesOf(state_dir).length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
}
