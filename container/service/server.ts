import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { serve } from '@hono/node-server'

import type { ImportJob, TranscodeJob } from '../../src/contract/job.ts'
import { createCoverDecoder } from '../audio/cover_decoder.ts'
import { transcode } from '../audio/transcode.ts'
import { cleanWorkDir, checkSpace, JOB_PREFIX, makeDirectory, openWorkDir } from '../disk.ts'
import { armFailpoints } from '../failpoint.ts'
import { log } from '../log.ts'
import { confine } from '../process/confine.ts'
import { adviceOn, findTools } from '../process/ffmpeg.ts'
import { killAll } from '../process/run.ts'
import { outstandingBytes } from '../transfer/fetch_source.ts'
import { createCovers } from './covers.ts'
import { runImport } from './imports.ts'
import { importSlots, Jobs, transcodeSlots } from './jobs.ts'
import { createRoutes } from './routes.ts'
import { readSettings } from './settings.ts'

/** The bundle of `decode_cover.ts`, which `container/bundle.ts` writes next to that of this file. */
const DECODER = join(import.meta.dirname, 'decode_cover.js')

const { settings, binaries, decodeCover } = await prepare().catch((error: unknown) => giveUp(error, 2))
const { workDir, timeoutSeconds, limits, slotSeconds } = settings
cleanWorkDir(workDir)
armFailpoints(workDir)
const { tools, confined, owner } = await confine(binaries, workDir)
const { version } = tools
if (!confined.includes('files'))
  log('files_not_confined', {
    message:
      'Landlock does not work here: ffmpeg can read every file that its user can read (docs/operate.md#confinement)',
  })
const advice = adviceOn(binaries.year)
if (advice) log('old_ffmpeg', { message: advice })

const shutdown = new AbortController()
const jobs = new Jobs<TranscodeJob>(
  async (job, options) => {
    const directory = join(workDir, `${JOB_PREFIX}${job.job_id}`)
    await makeDirectory(directory, owner)
    try {
      const context = { ...options, tools: { ...tools, timeoutSeconds }, decodeCover, directory, limits }
      return { type: 'result', result: await transcode(job, context) }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
  (job, running) => checkSpace(workDir, job, running, outstandingBytes()),
  transcodeSlots(slotSeconds),
)
const imports = new Jobs<ImportJob>(
  (job, options) => runImport(job, workDir, settings, options),
  // The length of the file is not known yet; the import checks the disk when it is.
  () => 'now',
  importSlots(),
)
const covers = createCovers(workDir, limits, decodeCover)
const routes = createRoutes({
  jobs,
  imports,
  covers,
  version,
  year: binaries.year,
  confined,
  secret: settings.secret,
  signal: shutdown.signal,
})

const server = serve(
  {
    fetch: routes.fetch,
    port: settings.port,
    hostname: settings.host,
    // The keep-alive timeout is longer than that of clients, so that no request arrives on a connection that is being closed.
    serverOptions: { requestTimeout: 60_000, keepAliveTimeout: 120_000 },
  },
  ({ port }) => log('started', { host: settings.host, port, pid: process.pid, ffmpeg: version, confined }),
)
server.on('error', (error) => giveUp(error))

let stopping = false
/** Waits until the running jobs have ended and all outcomes are fetched, and then exits. A second call exits immediately. */
async function stop(): Promise<void> {
  if (stopping) exit()
  stopping = true
  log('stopping', jobs.state())
  setTimeout(() => [jobs, imports].forEach((kind) => kind.cancelAll()), settings.graceMs)
  await Promise.all([jobs, imports].map((kind) => kind.drain(settings.lingerMs)))
  // Cover jobs that are still running take only seconds.
  setTimeout(exit, 5000)
  server.close(exit)
}

function exit(): never {
  shutdown.abort()
  killAll()
  cleanWorkDir(workDir)
  log('stopped')
  process.exit(0)
}

async function prepare() {
  const settings = readSettings(process.env)
  openWorkDir(settings.workDir)
  return { settings, binaries: await findTools(settings), decodeCover: createCoverDecoder(DECODER) }
}

/** Exit code 2 means that a restart would also fail (scripts/start.ts). */
function giveUp(error: unknown, code = 1): never {
  log('failed', { message: error instanceof Error ? error.message : String(error) })
  process.exit(code)
}

process.on('SIGTERM', () => void stop())
// Ctrl-C in a terminal is sent to the entire process group, so the service exits immediately.
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

// Whether a process has ended but was not reaped. In many containers, no process reaps orphans, so a dead parent stays in the process
// table.
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  } catch {
    return false
  }
}
