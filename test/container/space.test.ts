import { readFileSync, statfsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { checkSpace, requiredSpace } from '../../container/disk.ts'
import { CATALOG, toJobVariant } from '../../src/contract/catalog.ts'
import type { JobVariant, TranscodeJob } from '../../src/contract/job.ts'

/** Tests how the service computes the maximum disk space that the files of a job use at once. */

const MARGIN = 1024 ** 3
const HOUR = 3600
const at = (index: string) => ({ index, url: 'http://localhost/x', content_type: 'audio/x' })
const aac: JobVariant = { ...at('aac-160'), kind: 'audio', codec: 'aac', bitrate: 160 }
const flac: JobVariant = { ...at('lossless'), kind: 'audio', codec: 'flac', bitrate: 0 }
const preview: JobVariant = { ...at('preview'), kind: 'preview', codec: 'mp3', bitrate: 128, start: 0, length: 30 }
const waveform: JobVariant = { ...at('waveform'), kind: 'waveform' }

const job = (size: number, changes: Partial<TranscodeJob> = {}): TranscodeJob => ({
  version: 1,
  job_id: 'a',
  pass: 'strict',
  source: { url: 'http://localhost/source', size },
  max_duration: HOUR,
  variants: [],
  cover: null,
  early: null,
  tags: null,
  picture: null,
  ...changes,
})

describe('requiredSpace', () => {
  it.each<[string, Partial<TranscodeJob>, number]>([
    ['the source alone', {}, 900e6],
    ['a copy of it for early play', { early: { url: 'http://localhost/early', from_duration: 300 } }, 1800e6],
    ['FLAC with the size of the source', { variants: [flac] }, 1800e6],
    ['a lossy variant by its bitrate and the maximum duration', { variants: [aac] }, 900e6 + 72e6],
    ['a preview by its length', { variants: [preview] }, 900e6 + 480e3],
    ['nothing extra for data files', { variants: [waveform] }, 900e6],
  ])('counts %s', (_, changes, bytes) => {
    expect(requiredSpace(job(900e6, changes))).toBe(bytes + MARGIN)
  })

  it('counts at most the size of the source for a lossy variant', () => {
    expect(requiredSpace(job(1e6, { variants: [aac, aac] }))).toBe(3e6 + MARGIN)
  })
})

describe('the container in wrangler.toml', () => {
  const wrangler = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8')
  const setting = (name: string) => Number(new RegExp(`${name} = "?(\\d+)`).exec(wrangler)?.[1])
  /** Bytes that the image and the system need. */
  const SYSTEM = 500e6

  it('has disk space for the largest upload in all variants of the catalog', () => {
    const largest = job(setting('MAX_UPLOAD_BYTES'), {
      max_duration: setting('MAX_DURATION_SECONDS'),
      early: { url: 'http://localhost/early', from_duration: 300 },
      variants: CATALOG.filter(({ type }) => type !== 'original').map((rendition) =>
        toJobVariant(rendition, 'http://localhost/x'),
      ),
    })
    expect(requiredSpace(largest) + SYSTEM).toBeLessThan(setting('disk_mb') * 1e6)
    // Cloudflare (Containers, Limits) allows at most 2 GB of disk per GiB of memory, and requires at least 3 GiB of memory per core.
    expect(setting('disk_mb')).toBeLessThanOrEqual((setting('memory_mib') / 1024) * 2000)
    expect(setting('memory_mib')).toBeGreaterThanOrEqual(setting('vcpu') * 3 * 1024)
  })
})

describe('checkSpace', () => {
  const here = import.meta.dirname
  const { blocks, bavail, bsize } = statfsSync(here)

  it('considers the size of the disk, its current use, and the space that running jobs will need', () => {
    const free = bavail * bsize
    expect(checkSpace(here, job(1e6), [])).toBe('now')
    expect(checkSpace(here, job(1e6), [job(free / 2)])).toBe('now')
    expect(checkSpace(here, job(1e6), [job(free)])).toBe('later')
    // The checkout of this project uses some space, so this job would fit only if the disk were empty.
    expect(checkSpace(here, job((free + blocks * bsize) / 2), [])).toBe('not')
    expect(checkSpace(here, job(2 * blocks * bsize), [])).toBe('never')
  })

  it('counts the space that a running job already uses only once', async () => {
    const workDir = await mkdtemp(join(tmpdir(), 'tonearm-space-'))
    await mkdir(join(workDir, 'job-a'))
    // The file is sparse, so it uses no space on the disk.
    await writeFile(join(workDir, 'job-a', 'src'), '')
    await truncate(join(workDir, 'job-a', 'src'), bavail * bsize)
    expect(checkSpace(workDir, job(1e6), [job(bavail * bsize)])).toBe('now')
    await rm(workDir, { recursive: true })
  })
})
