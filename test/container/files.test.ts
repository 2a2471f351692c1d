import { afterAll, describe, expect, it } from 'vitest'

import { decode, probeAudio } from '../support/audio.ts'
import { BAD } from '../support/corpus/bad.ts'
import type { CorpusFile } from '../support/corpus/case.ts'
import { CUTS, DAMAGED, ODD } from '../support/corpus/damaged.ts'
import { INTACT } from '../support/corpus/intact.ts'
import { watchMemory } from './memory.ts'
import { descendants } from './processes.ts'
import { lightVariants, newJob, runJob, startService } from './service.ts'
import { startStorage } from './storage.ts'

/** Maximum memory in megabytes that a job may use, whatever the file is. Node alone needs about 120. */
const MEMORY_LIMITS_MB = { service: 350, child: 256 }

/** Every kind of file that is uploaded in practice, intact and damaged, and many that should never be uploaded. */
const CORPUS = [...INTACT, ...CUTS, ...DAMAGED, ...ODD, ...BAD]

// A separate service, because its memory is measured.
const [storage, service] = await Promise.all([startStorage(), startService()])
afterAll(() => Promise.all([storage.close(), service.stop()]))
const memory = watchMemory(service.pid)

async function run({ name, make }: CorpusFile) {
  const job = newJob(storage, storage.serve(encodeURIComponent(name), await make()))
  job.variants = lightVariants(storage, job.job_id)
  return { job, ...(await runJob(service, job)) }
}

describe('a file of the corpus', () => {
  it.each(CORPUS.filter((row) => row.fails).map((row) => [row.fails!, row.name, row] as const))(
    'fails with %s: %s',
    async (code, _, row) => {
      const { error, result } = await run(row)
      expect(result).toBeUndefined()
      expect(error).toMatchObject({ code, retryable: false })
      expect(error!.message).toMatch(/^[A-Z].*\.$/)
    },
  )

  it.each(CORPUS.filter((row) => !row.fails).map((row) => [row.name, row] as const))('plays: %s', async (_, row) => {
    const { job, result, error, fallback } = await run(row)
    expect(error).toBeUndefined()
    expect(result!.failed).toEqual([])
    expect(result!.warnings.map(({ code }) => code)).toEqual(row.warnings ?? [])
    expect(fallback !== undefined, fallback).toBe(row.fallback ?? false)
    expect(Math.abs(result!.duration - row.duration!), `lasts ${result!.duration} s`).toBeLessThanOrEqual(
      row.tolerance!,
    )
    expect(result!.info).toMatchObject(row.info ?? {})
    const made = storage.files.get(`${job.job_id}/mp3-128`)!
    const mp3 = await decode(made)
    const { rate, channels } = await probeAudio(made)
    if (row.tone) expect(Math.abs(toneLevel(mp3, channels, rate) - row.tone)).toBeLessThan(2.5)
    if (row.name === 'silence') expect([...new Set(mp3), ...new Set(result!.levels)]).toEqual([0, 0])
  })

  it('leaves nothing behind and stays within the memory limits', async () => {
    expect(await service.leftovers()).toEqual([])
    expect(await descendants(service.pid)).toEqual([])
    const peak = await memory.stop()
    expect(peak.service).toBeLessThan(MEMORY_LIMITS_MB.service)
    expect(peak.child).toBeLessThan(MEMORY_LIMITS_MB.child)
    expect(peak.child).toBeGreaterThan(1)
  })
})

/** Returns the level in dBFS of a 440 Hz sine in the second half of the samples (Goertzel's algorithm), and expects almost no other sound there. */
function toneLevel(samples: Int16Array, channels: number, rate: number): number {
  const left = samples.filter((_, i) => i % channels === 0)
  const half = left.slice(left.length / 2)
  let [sin, cos, power] = [0, 0, 0]
  half.forEach((sample, i) => {
    sin += sample * Math.sin((2 * Math.PI * 440 * i) / rate)
    cos += sample * Math.cos((2 * Math.PI * 440 * i) / rate)
    power += sample * sample
  })
  const amplitude = (2 * Math.hypot(sin, cos)) / half.length
  expect((amplitude ** 2 / 2) * half.length, 'the tone among all that sounds').toBeGreaterThan(power * 0.8)
  return 20 * Math.log10(amplitude / 32768)
}
