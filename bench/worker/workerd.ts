import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { atEnd } from './ending.ts'

/** Bare `workerd serve`, as wrangler brings it along: no Node, no proxy and no simulator in the process that is measured. */

const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { default: WORKERD } = require('workerd') as { default: string }
/** Wrangler's own Miniflare. */
export const MINIFLARE = require.resolve('miniflare')

export type Value = string | number | boolean | null | Text | Value[] | { [name: string]: Value | undefined }
type Text = { capnp: string }

/** A name of the schema's own, such as an enumerated value, or any other text of the configuration. */
export const literal = (capnp: string): Text => ({ capnp })
/** The contents of a file of the directory that the configuration lies in. */
export const file = (path: string) => literal(`embed ${JSON.stringify(path)}`)

export type Config = { services: Value[]; sockets: Value[]; extensions?: Value[] }

/** A value in the text form of Cap'n Proto, which has no `null`: that stands for `void`. */
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
  /** Address of a socket by its name. */
  url: (socket: string) => string
  stop: () => Promise<void>
}

/** Lines that a process wrote, for when it does not start. */
const TAIL = 20

/** All that has been started and not stopped. */
const running = new Set<Workerd>()
export const runningPids = () => [...running].map(({ pid }) => pid)

/** Starts workerd on free ports of 127.0.0.1; `files` are those that `file` names. Ready when every socket listens. */
export async function startWorkerd(config: Config, files: Record<string, Uint8Array | string> = {}): Promise<Workerd> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-bench-'))
  const root = `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${text(config)};\n`
  for (const [name, contents] of Object.entries({ ...files, 'config.capnp': root })) {
    await writeFile(join(directory, name), contents)
  }
  const flags = ['serve', '--experimental', '--control-fd=3', 'config.capnp', 'config']
  const child = spawn(WORKERD, flags, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const said: string[] = []
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line)
      if (said.length > TAIL) said.shift()
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
  atEnd(workerd.stop)
  await listening(child, ports, config.sockets.length)
  if (ports.size < config.sockets.length) {
    await workerd.stop()
    throw new Error(`workerd did not start:\n${said.join('\n')}`)
  }
  return workerd
}

/** Reads the ports until all sockets listen, or workerd has ended. */
async function listening(child: ChildProcess, ports: Map<string, number>, sockets: number): Promise<void> {
  for await (const line of createInterface({ input: child.stdio[3] as Readable })) {
    const { event, socket, port } = JSON.parse(line) as { event: string; socket: string; port: number }
    if (event === 'listen') ports.set(socket, port)
    if (ports.size === sockets) return
  }
}

/** A socket on a free port that leads to a service. */
export const socket = (name: string, service: Value = name): Value => ({
  name,
  address: '127.0.0.1:0',
  http: {},
  service,
})
