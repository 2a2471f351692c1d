import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { serve } from '@hono/node-server'

import { transcode } from '../audio/transcode.ts'
import { JOB_PREFIX, cleanWorkDir, makeDirectory, openWorkDir } from '../disk.ts'
import { log } from '../log.ts'
import { confine } from '../process/confine.ts'
import { findTools } from '../process/ffmpeg.ts'
import { killAll } from '../process/run.ts'
import { createCovers } from './covers.ts'
import { createJobs } from './jobs.ts'
import { createRoutes } from './routes.ts'
import { readSettings } from './settings.ts'

const settings = readSettings(process.env)
const found = await findTools(settings).catch(giveUp)
openWorkDir(settings.workDir)
cleanWorkDir(settings.workDir)
const { tools, confined, owner } = await confine(found, settings.workDir)

const { timeoutSeconds, limits } = settings

const ending = new AbortController()
const jobs = createJobs(async (job, signal, emit) => {
  const directory = join(settings.workDir, `${JOB_PREFIX}${job.job_id}`)
  await makeDirectory(directory, owner)
  try {
    return await transcode(job, { tools: { ...tools, timeoutSeconds }, signal, emit, directory, limits })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
const covers = createCovers(settings.workDir, limits)
const { version } = tools
const routes = createRoutes({ jobs, covers, version, confined, secret: settings.secret, signal: ending.signal })

const server = serve(
  {
    fetch(request, env) {
      // A request that was on its way when the service was told to stop is its connection's last.
      if (stopping) env.outgoing.setHeader('connection', 'close')
      return routes.fetch(request, env)
    },
    port: settings.port,
    hostname: settings.host,
    // Longer than callers keep idle connections, so that no request meets one that is just being closed.
    serverOptions: { requestTimeout: 60_000, keepAliveTimeout: 120_000 },
  },
  ({ port }) => log('started', { host: settings.host, port, pid: process.pid, ffmpeg: version, confined }),
)
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
