import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { confine } from './confine.ts'
import { createCovers } from './covers.ts'
import { findTools } from './ffmpeg.ts'
import { createJobs } from './jobs.ts'
import { log } from './log.ts'
import { route } from './routes.ts'
import { killAll } from './run.ts'
import { readSettings } from './settings.ts'
import { JOB_PREFIX, cleanWorkDir, makeDirectory, openWorkDir } from './space.ts'
import { transcode } from './transcode.ts'

const settings = readSettings(process.env)
const found = await findTools(settings).catch(giveUp)
openWorkDir(settings.workDir)
cleanWorkDir(settings.workDir)
const { tools, confined, owner } = await confine(found, settings.workDir)

const { timeoutSeconds, patience } = settings

const ending = new AbortController()
const jobs = createJobs(async (job, signal, emit) => {
  const directory = join(settings.workDir, `${JOB_PREFIX}${job.job_id}`)
  await makeDirectory(directory, owner)
  try {
    return await transcode(job, { tools: { ...tools, timeoutSeconds }, signal, emit, directory, patience })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
const covers = createCovers(settings.workDir, patience)
const routes = { jobs, covers, version: tools.version, confined, secret: settings.secret, signal: ending.signal }

const server = createServer((request, response) => {
  // A consumer that goes away in the middle of a line is no event.
  response.on('error', () => undefined)
  // A request that was on its way when the service was told to stop is its connection's last.
  if (stopping) response.setHeader('connection', 'close')
  route(request, response, routes).catch(() => response.destroy())
})
// A stream of a long job stays open as long as the job takes.
server.requestTimeout = 60_000
// Longer than callers keep idle connections, so that no request meets one that is just being closed.
server.keepAliveTimeout = 120_000
server.listen(settings.port, settings.host, () => {
  const { port } = server.address() as AddressInfo
  log('started', { host: settings.host, port, pid: process.pid, ffmpeg: tools.version, confined })
})
server.on('error', giveUp)

let stopping = false
async function stop(graceMs: number): Promise<void> {
  if (stopping) exit()
  stopping = true
  server.close()
  setTimeout(() => jobs.cancelAll(), graceMs).unref()
  await jobs.close()
  // The last lines of the streams must leave before the process does.
  setTimeout(exit, 100)
}

function exit(): never {
  ending.abort()
  killAll()
  cleanWorkDir(settings.workDir)
  log('stopped')
  process.exit(0)
}

function giveUp(error: unknown): never {
  log('failed', { message: error instanceof Error ? error.message : String(error) })
  process.exit(1)
}

process.on('SIGTERM', () => void stop(settings.graceMs))
// Ctrl-C in a terminal reaches the whole process group: end at once.
process.on('SIGINT', exit)
process.on('exit', killAll)

if (settings.parentPid) {
  const parent = settings.parentPid
  setInterval(() => isAlive(parent) || exit(), 1000).unref()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

// Where nothing reaps orphans (many containers), a dead parent stays in the table of processes.
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  } catch {
    return false
  }
}
