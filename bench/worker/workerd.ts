import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { onEnd } from './cleanup.ts'

/** Runs `workerd serve` with the binary that wrangler installs. The measured process contains no Node, proxy or simulator. */

const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { default: WORKERD } = require('workerd') as { default: string }
/** The Miniflare that wrangler depends on. */
export const MINIFLARE = require.resolve('miniflare')

export type Value = string | number | boolean | null | Text | Value[] | { [name: string]: Value | undefined }
type Text = { capnp: string }

/** Text that is inserted into the configuration without quotes, such as an enum value. */
export const literal = (capnp: string): Text => ({ capnp })
/** Returns a value that embeds the contents of a file in the directory of the configuration. */
export const file = (path: string) => literal(`embed ${JSON.stringify(path)}`)

export type Config = { services: Value[]; sockets: Value[]; extensions?: Value[]; v8Flags?: string[] }

/** Formats a value in Cap'n Proto's text format. The format has no `null`, so null becomes `void`. */
function text(value: Value | undefined): string {
  if (value === null) return 'void'
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  if (typeof value.capnp === 'string') return value.capnp
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === undefined ? [] : [`${name} = ${text(field)}`],
  )
  return `(${fields.join(', ')})`
}

export type Workerd = {
  pid: number
  /** Returns the URL of the socket with this name. */
  url: (socket: string) => string
  stop: () => Promise<void>
}

/** Number of output lines to show when a process does not start. */
const TAIL = 20

/** The workerd processes that are running. */
const running = new Set<Workerd>()
export const runningPids = () => [...running].map(({ pid }) => pid)

/**
 * Starts workerd on free ports of 127.0.0.1, in an empty directory with `files`, to which `file` refers, and with empty `directories`. Resolves when every
 * socket is listening.
 */
export async function startWorkerd(
  config: Config,
  files: Record<string, Uint8Array | string> = {},
  directories: string[] = [],
): Promise<Workerd> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-bench-'))
  const root = `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${text(config)};\n`
  for (const [name, contents] of Object.entries({ ...files, 'config.capnp': root })) {
    await writeFile(join(directory, name), contents)
  }
  for (const name of directories) await mkdir(join(directory, name))
  const flags = ['serve', '--experimental', '--control-fd=3', 'config.capnp', 'config']
  const child = spawn(WORKERD, flags, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line)
      if (output.length > TAIL) output.shift()
    })
  const exited = once(child, 'exit')
  const ports = new Map<string, number>()
  const workerd: Workerd = {
    pid: child.pid!,
    url: (socket) => `http://127.0.0.1:${ports.get(socket)}`,
    async stop() {
      running.delete(workerd)
      child.kill('SIGKILL')
      await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
  running.add(workerd)
  onEnd(workerd.stop)
  await waitForPorts(child, ports, config.sockets.length)
  if (ports.size < config.sockets.length) {
    await workerd.stop()
    throw new Error(`workerd did not start:\n${output.join('\n')}`)
  }
  return workerd
}

/** Reads port numbers until all sockets are listening or workerd has exited. */
async function waitForPorts(child: ChildProcess, ports: Map<string, number>, sockets: number): Promise<void> {
  for await (const line of createInterface({ input: child.stdio[3] as Readable })) {
    const { event, socket, port } = JSON.parse(line) as { event: string; socket: string; port: number }
    if (event === 'listen') ports.set(socket, port)
    if (ports.size === sockets) return
  }
}

/** Returns the configuration of a socket on a free port for a service. */
export const socket = (name: string, service: Value = name): Value => ({
  name,
  address: '127.0.0.1:0',
  http: {},
  service,
})
