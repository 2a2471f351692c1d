import { statSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { makeAudio, noise, tools } from '../support/audio.ts'
import { noLandlock, noLimits } from './machine.ts'
import { type Service, succeed } from './service.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

let workspace: Workspace
let audio: Buffer

beforeAll(async () => {
  // The audio is long enough for the text that is appended to the MP3 to be a small part of the file. Otherwise ffprobe
  // would estimate a wrong duration from the file size.
  audio = await makeAudio('wav', { seconds: 4, expression: noise })
})

beforeEach(async () => {
  workspace = await createWorkspace(audio)
})

afterEach(() => workspace.dispose())

const SECRET = 'guess-me-if-you-can'

/**
 * A fake ffmpeg that appends a report of its own privileges to the MP3.
 */
const SPY = `case "$*" in *filter_complex*) ;; *) exec "$REAL" "$@";; esac
"$REAL" "$@"
cat mp3-128.mp3 >played
rm mp3-128.mp3
{ cat played; echo; cat /proc/self/status; echo FILE:$(ulimit -f) OPEN:$(ulimit -n) MEMORY:$(ulimit -v) CORE:$(ulimit -c)
  echo "ENVIRONMENT:$(env | grep -v '^_=' | cut -d= -f1 | sort | tr '\\n' ' ')"
  echo NICE:$(nice)
  echo DEVICES:$(grep -c : /proc/net/dev)
  head -c 1 /etc/passwd > /dev/null && echo PASSWD
  tr '\\0' '\\n' < /proc/$PPID/environ | grep ^SOME_SECRET=; } > mp3-128.mp3 2>/dev/null
exit 0`

const ffmpeg = process.env.FFMPEG_PATH ?? tools.ffmpeg
// Another user may be unable to run the one from npm.
const PROBE = { FFPROBE_PATH: process.env.FFPROBE_PATH ?? tools.ffprobe }

/** Whether an unprivileged user can run a program, which is impossible if the checkout is below a directory that only root can enter. */
function othersMayRun(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (dirname(path) === path || othersMayRun(dirname(path)))
}

async function confinement(service: Service): Promise<string[]> {
  const health = (await (await fetch(`${service.url}/health`)).json()) as { confined: string[] }
  expect(service.logs.find((entry) => entry.event === 'started')?.confined).toEqual(health.confined)
  const warning = service.logs.find((entry) => entry.event === 'files_not_confined')
  if (health.confined.includes('files')) expect(warning).toBeUndefined()
  else expect(warning?.message).toMatch(/^Landlock does not work here: ffmpeg can read every file/)
  return health.confined
}

describe('ffmpeg', () => {
  it('is confined exactly as the service reports', async ({ skip }) => {
    skip(noLimits !== null, noLimits ?? '')
    const service = await workspace.start({ ...(await workspace.fakeFfmpeg(SPY)), ...PROBE, SOME_SECRET: SECRET })
    const job = workspace.newLightJob()
    await succeed(service, job)
    const report = workspace.storage.files.get(`${job.job_id}/mp3-128`)!.toString()
    const confined = await confinement(service)
    const has = (layer: string) => confined.includes(layer)

    expect(report).toContain('ENVIRONMENT:GCONV_PATH PATH PWD \n')
    // Expects the niceness of the slot for the shortest jobs. A process that is not root cannot set a lower value than its own.
    const isRoot = process.getuid?.() === 0 && !process.env.SERVICE_COMMAND
    expect(report).toContain(`NICE:${isRoot ? 1 : Math.max(1, getPriority())}\n`)
    // These layers need only Perl, which every Debian has. The other layers depend on the kernel and the container.
    expect(confined).toEqual(expect.arrayContaining(['limits', 'no_new_privs']))
    expect(report).toMatch(/FILE:10485760 OPEN:256 MEMORY:3145728 CORE:0/)
    if (!has('files')) expect(report).toMatch(/NoNewPrivs:\s1/)
    if (has('network') && !has('files')) expect(report).toContain('DEVICES:1')
    if (process.getuid?.() === 0 && !process.env.SERVICE_COMMAND) expect(has('user')).toBe(othersMayRun(ffmpeg))
    if (has('user')) {
      expect(report).toMatch(/Uid:\s65534\s65534\s65534\s65534/)
      expect(report).toMatch(/CapEff:\s0{16}\n/)
      expect(report).toMatch(/CapBnd:\s0{16}\n/)
      expect(report).toMatch(/Groups:\s*\n/)
    }
    expect(report.includes('PASSWD')).toBe(!has('files'))
    const otherNamespace = has('network') && process.getuid?.() !== 0
    if (has('user') || has('files') || otherNamespace) expect(report).not.toContain(SECRET)
  })

  it('runs unconfined if no layer works', async () => {
    const none = join(workspace.scratch, 'none')
    await mkdir(none)
    const service = await workspace.start({
      ...(await workspace.fakeFfmpeg('exec "$REAL" "$@"')),
      ...PROBE,
      PATH: none,
    })
    expect(await confinement(service)).toEqual([])
    await succeed(service, workspace.newLightJob())
  })

  it("runs as the service's user if another user cannot reach the work directory", async () => {
    const parent = join(workspace.scratch, 'closed')
    const workDir = join(parent, 'work')
    await mkdir(workDir, { recursive: true })
    if (!process.env.SERVICE_COMMAND) await chmod(parent, 0o700)
    const service = await workspace.start({ ...PROBE, WORK_DIR: workDir })
    const confined = await confinement(service)
    expect(confined).not.toContain('user')
    // The other layers do not depend on it.
    expect(confined.includes('files')).toBe(noLandlock === null)
    await succeed(service, workspace.newLightJob())
  })
})
