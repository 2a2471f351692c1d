import { execFileSync } from 'node:child_process'
import { type FileHandle, mkdtemp, open } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { makeAudio, noise } from '../support/audio.ts'
import { childrenOf, encoderOf, PATIENCE } from './processes.ts'
import { collect, newJob, post, runJob, type Service } from './service.ts'
import { setStage, SLOW, type Stage } from './stage.ts'

/*
 * The service on a disk of its own: a tmpfs in a private mount namespace, which root may make, and every other user in a user
 * namespace. The script makes it smaller or larger on request, as a neighbour that fills the disk or leaves it does. No mount
 * is seen outside, and all are gone with the service.
 */
const DISK = `
mount -t tmpfs -o mode=1777,size=$1 tmpfs "$SERVICE_ROOT$WORK_DIR" || exit 9
{ while read size; do mount -o remount,size=$size tmpfs "$SERVICE_ROOT$WORK_DIR" && echo "{\\"event\\":\\"resized\\",\\"size\\":\\"$size\\"}"; done < "$2"; } &
shift 2
exec "$@"`

const MEGABYTE = 1024 * 1024
const GIGABYTE = 1024 * MEGABYTE

let stage: Stage
const pipes: FileHandle[] = []
let audio: Buffer

beforeAll(async () => {
  audio = await makeAudio('flac', { seconds: 6, expression: noise })
})

beforeEach(async () => {
  stage = await setStage(audio)
})

afterEach(async () => {
  await stage.strike()
  // The end of the script.
  for (const pipe of pipes.splice(0)) await pipe.close()
})

async function startOnDisk(size: number, environment: Record<string, string> = {}) {
  const workDir = await mkdtemp(join(stage.scratch, 'disk-'))
  const control = join(stage.scratch, 'control')
  execFileSync('mkfifo', [control])
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const unshare = ['unshare', ...user, '--mount', 'sh', '-c', DISK, 'sh', String(size), control]
  const service = await stage.start(
    { SERVICE_ROOT: '', ...process.env, ...environment, WORK_DIR: workDir },
    (command) => [...unshare, ...command],
  )
  const pipe = await open(control, 'w')
  pipes.push(pipe)
  const resize = async (bytes: number) => {
    await pipe.write(`${bytes}\n`)
    await vi.waitFor(() => expect(service.logs).toContainEqual({ event: 'resized', size: String(bytes) }), 10_000)
  }
  return { service, resize }
}

/** What lies on the service's own disk. */
function filesOf(service: Service): string[] {
  const inside = ['find', service.workDir, '-mindepth', '1']
  return execFileSync('nsenter', ['--preserve-credentials', ...namespacesOf(service), ...inside], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
}

function namespacesOf({ pid }: Service): string[] {
  return ['-t', String(pid), '-m', ...(process.getuid?.() === 0 ? [] : ['-U'])]
}

describe('a disk', () => {
  it('that fills up in mid-job ends in disk_full, and the same job succeeds once there is room', async () => {
    const { service, resize } = await startOnDisk(2 * GIGABYTE, await stage.fakeFfmpeg(SLOW))
    const job = newJob(stage.storage, stage.storage.serve('song', audio))
    const stream = await post(service, job, job.job_id)
    await encoderOf(service)
    await resize(audio.length + 400_000)
    const { error } = await collect(stream)
    expect(error).toMatchObject({ code: 'disk_full', retryable: true })
    expect(filesOf(service)).toEqual([])
    expect(await childrenOf(service.pid, /ffmpeg/)).toEqual([])
    await resize(2 * GIGABYTE)
    const { result } = await runJob(service, job)
    expect(result?.failed).toEqual([])
    expect(filesOf(service)).toEqual([])
  })

  it('that fills up in the download ends in disk_full', async () => {
    const { service, resize } = await startOnDisk(2 * GIGABYTE)
    const ready = Promise.withResolvers<void>()
    // Larger than what is written at once, and than the room that is left.
    const long = await makeAudio('wav', { seconds: 30, expression: noise })
    const job = newJob(stage.storage, stage.storage.serve('long', long, { ready: ready.promise }))
    const stream = await post(service, job, job.job_id)
    await vi.waitFor(() => expect(filesOf(service)).toHaveLength(2), PATIENCE)
    await resize(1.5 * MEGABYTE)
    ready.resolve()
    expect((await collect(stream)).error).toMatchObject({ code: 'disk_full', retryable: true })
    expect(filesOf(service)).toEqual([])
  })

  it('with too little room for a source is not begun on', async () => {
    const { service, resize } = await startOnDisk(GIGABYTE)
    const job = stage.newLightJob()
    expect((await runJob(service, job)).error).toMatchObject({ code: 'file_too_large', retryable: false })
    await resize(2 * GIGABYTE)
    expect((await runJob(service, job)).result).toBeDefined()
  })
})
