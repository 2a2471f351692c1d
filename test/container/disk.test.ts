import { execFileSync } from 'node:child_process'
import { type FileHandle, mkdtemp, open, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { diskError, makeDirectory, reserveSpace, requiredSpace } from '../../container/disk.ts'
import { download } from '../../container/transfer/download.ts'
import { Refusal } from '../../src/contract/job.ts'
import { makeAudio, noise } from '../support/audio.ts'
import { noMounts, ownMounts } from './machine.ts'
import { childrenOf, encoderOf, WAIT } from './processes.ts'
import { collect, newJob, post, runJob, type Service } from './service.ts'
import { createWorkspace, SLOW, type Workspace } from './workspace.ts'

/*
 * Runs the service on a separate disk: a tmpfs in a private mount namespace. The script resizes it on request, to simulate a neighbor
 * that fills the disk or frees it. No mount is visible outside, and all of them disappear with the service.
 */
const DISK = `
mount -t tmpfs -o mode=1777,size=$1 tmpfs "$SERVICE_ROOT$WORK_DIR" || exit 9
{ while read size; do mount -o remount,size=$size tmpfs "$SERVICE_ROOT$WORK_DIR" && echo "{\\"event\\":\\"resized\\",\\"size\\":\\"$size\\"}"; done < "$2"; } &
shift 2
exec "$@"`

const MEGABYTE = 1024 * 1024
const GIGABYTE = 1024 * MEGABYTE

let workspace: Workspace
const pipes: FileHandle[] = []
let audio: Buffer

beforeAll(async () => {
  audio = await makeAudio('flac', { seconds: 6, expression: noise })
})

beforeEach(async () => {
  workspace = await createWorkspace(audio)
})

afterEach(async () => {
  await workspace.dispose()
  // Closing a pipe ends the resize script.
  for (const pipe of pipes.splice(0)) await pipe.close()
})

async function startOnDisk(size: number, environment: Record<string, string> = {}) {
  const workDir = await mkdtemp(join(workspace.scratch, 'disk-'))
  const control = join(workspace.scratch, 'control')
  execFileSync('mkfifo', [control])
  const onDisk = [...ownMounts, 'sh', '-c', DISK, 'sh', String(size), control]
  const service = await workspace.start(
    { SERVICE_ROOT: '', ...process.env, ...environment, WORK_DIR: workDir },
    (command) => [...onDisk, ...command],
  )
  const pipe = await open(control, 'w')
  pipes.push(pipe)
  const resize = async (bytes: number) => {
    await pipe.write(`${bytes}\n`)
    await vi.waitFor(() => expect(service.logs).toContainEqual({ event: 'resized', size: String(bytes) }), 10_000)
  }
  return { service, resize }
}

/** Files on the service's own disk. */
function filesOf(service: Service): string[] {
  const inside = ['find', service.workDir, '-mindepth', '1']
  return execFileSync('nsenter', ['--preserve-credentials', ...namespacesOf(service), ...inside], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
}

function namespacesOf({ pid }: Service): string[] {
  return ['-t', String(pid), '-m', ...(process.getuid?.() === 0 ? [] : ['-U'])]
}

describe('a job on a small disk', () => {
  beforeEach(({ skip }) => skip(noMounts !== null, noMounts ?? ''))

  it('fails with disk_full if the disk fills up mid-job, and succeeds after space is freed', async () => {
    const { service, resize } = await startOnDisk(2 * GIGABYTE, await workspace.fakeFfmpeg(SLOW))
    const job = newJob(workspace.storage, workspace.storage.serve('song', audio))
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

  it('fails with disk_full if the disk fills up during the download', async () => {
    const { service, resize } = await startOnDisk(2 * GIGABYTE)
    const ready = Promise.withResolvers<void>()
    // The source is larger than one write and than the remaining free space.
    const long = await makeAudio('wav', { seconds: 30, expression: noise })
    const job = newJob(workspace.storage, workspace.storage.serve('long', long, { ready: ready.promise }))
    const stream = await post(service, job, job.job_id)
    await vi.waitFor(() => expect(filesOf(service)).toHaveLength(2), WAIT)
    await resize(1.5 * MEGABYTE)
    ready.resolve()
    expect((await collect(stream)).error).toMatchObject({ code: 'disk_full', retryable: true })
    expect(filesOf(service)).toEqual([])
  })

  it('fails if its source does not fit on the disk', async () => {
    const { service, resize } = await startOnDisk(GIGABYTE)
    const job = workspace.newLightJob()
    expect((await runJob(service, job)).error).toMatchObject({ code: 'file_too_large', retryable: false })
    await resize(2 * GIGABYTE)
    expect((await runJob(service, job)).result).toBeDefined()
  })
})

/**
 * The same failures, simulated without privileges: /dev/full rejects every byte like a full disk, and a process may
 * limit the size of its own files.
 */
describe('a service that runs out of space', () => {
  it('fails a job with disk_full, and the same job succeeds after space is freed', async () => {
    const full = join(workspace.scratch, 'full')
    await writeFile(full, '')
    // The PATH disables the confinement layers, because Landlock would deny ffmpeg access to the device.
    const script = `case "$*" in *filter_complex*) [ -e "${full}" ] && /bin/ln -s /dev/full mp3-128.mp3;; esac; exec "$REAL" "$@"`
    const service = await workspace.start({ ...(await workspace.fakeFfmpeg(script)), PATH: workspace.scratch })
    const job = workspace.newLightJob()
    expect((await runJob(service, job)).error).toMatchObject({ code: 'disk_full', retryable: true })
    expect(await service.leftovers()).toEqual([])
    expect(await childrenOf(service.pid, /ffmpeg/)).toEqual([])
    await rm(full)
    expect((await runJob(service, job)).result?.failed).toEqual([])
    expect(await service.leftovers()).toEqual([])
  })

  it('fails a download with disk_full', async () => {
    const { source } = workspace.newLightJob()
    const thrown = await download(source, '/dev/full', { signal: new AbortController().signal }).catch(diskError)
    expect(thrown).toMatchObject({ code: 'disk_full', retryable: true })
  })

  it('fails a job with file_too_large if its source exceeds the file size limit of the process', async () => {
    // The limit is in units of 512 bytes. It allows the first chunk of the source and part of the second one.
    const limited = ['sh', '-c', 'ulimit -S -f 3072; exec "$@"', 'sh']
    const service = await workspace.start({}, (command) => [...limited, ...command])
    const long = await makeAudio('wav', { seconds: 30, expression: noise })
    const job = newJob(workspace.storage, workspace.storage.serve('long', long))
    expect((await runJob(service, job)).error).toMatchObject({ code: 'file_too_large', retryable: false })
    expect(await service.leftovers()).toEqual([])
    expect((await runJob(service, workspace.newLightJob())).result).toBeDefined()
  })

  it('rejects a source that is larger than the whole disk before downloading it', async () => {
    const service = await workspace.start()
    const job = workspace.newLightJob()
    const huge = { ...job, source: { ...job.source, size: 2 ** 50 } }
    expect((await runJob(service, huge)).error).toMatchObject({ code: 'file_too_large', retryable: false })
    expect(workspace.storage.requests).toEqual([])
  })

  it('refuses a job with 503 while other programs use the disk', async () => {
    const service = await workspace.start()
    // The job needs the whole disk minus half of the space that this test occupies, so other disk activity does not matter.
    const taken = 2 ** 27
    await writeFile(join(workspace.scratch, 'taken'), Buffer.alloc(taken))
    const { blocks, bsize } = await statfs(service.workDir)
    const most = blocks * bsize - taken / 2
    const job = workspace.newLightJob()
    const spare = requiredSpace({ ...job, variants: [], source: { ...job.source, size: 0 } })
    const size = most - spare - 2 ** 25
    const response = await post(service, { ...job, source: { ...job.source, size } }, job.job_id)
    expect([response.status, Refusal.parse(await response.json()).code]).toEqual([503, 'unavailable'])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    await expect(reserveSpace(service.workDir, most)).rejects.toMatchObject({ code: 'disk_full', retryable: true })
  })
})

it('the directory of a job is closed to other users', async () => {
  const path = join(workspace.scratch, 'job')
  await makeDirectory(path, null)
  expect((await stat(path)).mode & 0o777).toBe(0o700)
})
