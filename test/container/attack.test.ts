import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

import { tools } from '../support/audio.ts'
import { attackFiles } from './attacks.ts'
import { createCanaryFiles, startCanaryServer } from './canary.ts'
import { WAIT } from './processes.ts'
import { lightVariants, newJob, runJob, type Service, startService } from './service.ts'
import { startStorage, type Storage } from './storage.ts'

let storage: Storage
let service: Service
let scratch: string
let server: Awaited<ReturnType<typeof startCanaryServer>>
let files: Awaited<ReturnType<typeof createCanaryFiles>>
let canaryPaths: { absolute: string; neighbor: string; bait: string; otherBait: string }

const NEIGHBOR = 'canary.wav'

beforeAll(async () => {
  storage = await startStorage()
  service = await startService()
  server = await startCanaryServer()
  scratch = await mkdtemp(join(tmpdir(), 'tonearm-canary-'))
  canaryPaths = {
    absolute: join(scratch, 'absolute.wav'),
    neighbor: join(service.workDir, NEIGHBOR),
    bait: join(scratch, 'bait.wav'),
    otherBait: join(scratch, 'other.wav'),
  }
  files = await createCanaryFiles(Object.values(canaryPaths))
})

afterAll(async () => {
  files.close()
  await service.stop()
  await storage.close()
  await server.close()
  await rm(scratch, { recursive: true, force: true })
})

/** Error codes that an attack may cause. Each one blames the file; a crash or a timeout is not allowed. */
const VERDICT =
  /^(text_file|image_file|playlist_file|document_file|unsupported_format|no_audio|no_samples|too_short|decode_failed)$/

/** Attacks whose job may succeed because they contain real audio: QuickTime files, and scripts disguised as AMR, in which every byte decodes as
 * speech (RFC 4867 §5). */
const OWN_AUDIO = /^QuickTime|behind an AMR mark$/

const attacks = () => attackFiles({ url: server.url, file: canaryPaths.absolute, relative: `../${NEIGHBOR}` })

describe('a file that references other files', () => {
  it.each([
    ['song.mp3', 'audio/mpeg', 'strict'],
    ['live.m3u8', 'application/vnd.apple.mpegurl', 'tolerant'],
  ] as const)(
    'fails when served as %s (%s), without any access to those files',
    { timeout: 240_000 },
    async (name, type, pass) => {
      for (const [attack, bytes] of await attacks()) {
        const job = newJob(storage, storage.serve(`${encodeURIComponent(attack)}/${name}`, bytes, { type }), { pass })
        const { error, result } = await runJob(service, { ...job, variants: lightVariants(storage, job.job_id) })
        if (result) expect(attack).toMatch(OWN_AUDIO)
        else expect(error, attack).toMatchObject({ code: expect.stringMatching(VERDICT), retryable: false })
      }
      expect(server.requests).toEqual([])
      expect(files.opened).toEqual([])
      expect(await service.leftovers()).toEqual([NEIGHBOR])
    },
  )
})

describe('canaries', () => {
  /** Runs ffmpeg without our limits on an attack file, in a directory like that of a job. */
  async function bare(attack: string, bait: string, flags: string[]) {
    const aimed = await attackFiles({ url: server.url, file: canaryPaths.absolute, relative: `../${basename(bait)}` })
    await mkdir(join(scratch, 'job'), { recursive: true })
    await writeFile(join(scratch, 'job/src'), new Map(aimed).get(attack)!)
    const args = ['-v', 'error', '-nostdin', ...flags, '-i', 'src', '-f', 'null', '-']
    await new Promise((resolve) => execFile(tools.ffmpeg, args, { cwd: join(scratch, 'job') }, resolve))
  }

  it('are triggered when ffmpeg opens the attack files without our limits', async () => {
    await bare('ffconcat to a relative path', canaryPaths.bait, ['-safe', '0'])
    await vi.waitFor(() => expect(files.opened).toEqual([canaryPaths.bait]), WAIT)
    await bare('QuickTime with its audio in a file', canaryPaths.otherBait, ['-enable_drefs', '1'])
    await vi.waitFor(() => expect(files.opened).toEqual([canaryPaths.bait, canaryPaths.otherBait]), WAIT)
    // Without the file extension, ffmpeg 7.1 recognizes a playlist only with `-f hls`.
    await bare('HLS to HTTP', canaryPaths.bait, ['-protocol_whitelist', 'file,http,tcp', '-f', 'hls'])
    expect(server.requests).toContain('GET /hls.ts')
  })

  it('are triggered when any process opens them', async () => {
    files.touch(canaryPaths.absolute)
    files.touch(canaryPaths.neighbor)
    await vi.waitFor(() => expect(files.opened.toSorted()).toEqual(Object.values(canaryPaths).toSorted()), WAIT)
  })
})
