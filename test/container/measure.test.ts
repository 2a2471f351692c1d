import { describe, expect, it } from 'vitest'

import type { JobVariant } from '../../src/contract/job.ts'
import { decode, makeAudio, type Signal, tone } from '../support/audio.ts'
import { lightVariants, newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

const { storage, service } = await shareService()

async function measure(signal: Signal) {
  const source = await makeAudio('wav', signal)
  const name = `${storage.requests.length}-${signal.expression}`.replaceAll(/\W/g, '')
  const job = newJob(storage, storage.serve(name, source))
  job.variants = lightVariants(storage, job.job_id)
  const { result } = await succeed(service, job)
  const json = (index: string) => JSON.parse(storage.files.get(`${job.job_id}/${index}`)!.toString())
  return { result, source, waveform: json('waveform'), analysis: json('analysis') }
}

describe('levels', () => {
  it('are 1 in the loud half and have the expected ratio in the quiet half', async () => {
    const { result } = await measure({ seconds: 4, expression: `if(lt(t,2),0.8,0.2)*sin(2*PI*1000*t)` })
    const middle = (from: number, to: number) => result.levels.slice(from, to)
    expect(Math.min(...middle(2, 158))).toBeGreaterThan(0.98)
    expect(Math.max(...result.levels)).toBe(1)
    for (const level of middle(162, 318)) expect(Math.abs(level - 0.25)).toBeLessThan(0.01)
  })

  it('include stereo whose channels have opposite phase, although its mono mix is silent', async () => {
    const opposite = `${tone(1000, -6)}|-${tone(1000, -6)}`
    const { result, waveform } = await measure({ seconds: 1, expression: opposite })
    expect(Math.min(...result.levels)).toBeGreaterThan(0.9)
    expect(Math.max(...waveform.data.map(Math.abs))).toBe(0)
  })

  it('are all 0 for silence, and the loudness is null', async () => {
    const { result, analysis } = await measure({ seconds: 2, expression: '0' })
    expect(result.levels.every((level) => level === 0)).toBe(true)
    expect(analysis).toMatchObject({
      integrated_lufs: null,
      true_peak_dbtp: null,
      sample_peak_dbfs: null,
      is_silent: true,
    })
    expect(result.info.loudness).toMatchObject({ integrated_lufs: null, replaygain_track_gain: null })
  })
})

describe('loudness', () => {
  it('is -23.0 LUFS for a stereo 1 kHz sine at -23 dBFS (EBU Tech 3341, case 1)', async () => {
    const { analysis, result } = await measure({ seconds: 20, rate: 48000, expression: tone(1000, -23) })
    expect(Math.abs(analysis.integrated_lufs + 23)).toBeLessThanOrEqual(0.1)
    expect(Math.abs(analysis.true_peak_dbtp + 23)).toBeLessThanOrEqual(0.2)
    expect(Math.abs(analysis.sample_peak_dbfs + 23)).toBeLessThanOrEqual(0.1)
    expect(analysis.replaygain_track_gain).toBeCloseTo(-18 - analysis.integrated_lufs, 5)
    expect(analysis.r128_track_gain).toBe(Math.round((-23 - analysis.integrated_lufs) * 256))
    expect(analysis).toMatchObject({
      duration: 20,
      sample_rate: 48000,
      channels: 2,
      codec: 'pcm_s16le',
      is_silent: false,
    })
    expect(result.info.loudness).toMatchObject({ integrated_lufs: analysis.integrated_lufs })
  })

  it('has a range of 10 LU for -20 dBFS followed by -30 dBFS (EBU Tech 3342, case 1)', async () => {
    const steps = `if(lt(t,20),0.1,0.0316228)*sin(2*PI*1000*t)`
    const { analysis } = await measure({ seconds: 40, rate: 48000, expression: steps })
    expect(Math.abs(analysis.loudness_range - 10)).toBeLessThanOrEqual(1)
  })
})

describe('waveform', () => {
  it('contains the extremes of the mono mix as BBC audiowaveform computes them', async () => {
    const { source, waveform } = await measure({ seconds: 3, channels: 2, expression: `${tone(97, -3)}*t/3` })
    const samples = new Int16Array(new Uint8Array(source.subarray(source.indexOf('data') + 8)).buffer)
    const frames = samples.length / 2
    expect(waveform).toMatchObject({ version: 2, channels: 1, sample_rate: 44100, bits: 8 })
    expect(waveform.length).toBe(Math.ceil(frames / waveform.samples_per_pixel))
    const expected: number[] = []
    for (let start = 0; start < frames; start += waveform.samples_per_pixel) {
      let [min, max] = [32767, -32768]
      for (let i = start; i < Math.min(frames, start + waveform.samples_per_pixel); i++) {
        const mono = Math.trunc((samples[2 * i]! + samples[2 * i + 1]!) / 2)
        min = Math.min(min, mono)
        max = Math.max(max, mono)
      }
      expected.push(Math.trunc(min / 256) || 0, Math.trunc(max / 256) || 0)
    }
    expect(waveform.data).toEqual(expected)
  })
})

describe('MP3', () => {
  it.each([48, 128, 192, 224, 320])('at %d kbit/s is as loud as its source', async (bitrate) => {
    const job = newJob(
      storage,
      storage.serve(`mp3-${bitrate}`, await makeAudio('wav', { seconds: 1, expression: tone(997, -12) })),
    )
    job.variants = [{ ...job.variants.find(({ index }) => index === 'mp3-128')!, bitrate } as JobVariant]
    await succeed(service, job)
    const samples = await decode(storage.files.get(`${job.job_id}/mp3-128`)!)
    const middle = samples.subarray(20_000, 60_000)
    const rms = Math.sqrt(middle.reduce((sum, value) => sum + value * value, 0) / middle.length) / 32768
    expect(Math.abs(20 * Math.log10(rms) + 15.01), `${20 * Math.log10(rms)} dBFS`).toBeLessThan(0.05)
  })
})

describe('AAC', () => {
  it.each([-1, -12])('of a pure tone at %d dBFS is as loud as its source', async (dbfs) => {
    const wav = await makeAudio('wav', { seconds: 1, expression: tone(440, dbfs) })
    const job = newJob(storage, storage.serve(`aac-${-dbfs}`, wav))
    job.variants = job.variants.filter(({ index }) => index === 'aac-160')
    await succeed(service, job)
    const samples = await decode(storage.files.get(`${job.job_id}/aac-160`)!)
    const middle = samples.subarray(20_000, 60_000)
    const rms = Math.sqrt(middle.reduce((sum, value) => sum + value * value, 0) / middle.length) / 32768
    expect(Math.abs(20 * Math.log10(rms) - dbfs + 3.01), `${20 * Math.log10(rms)} dBFS`).toBeLessThan(0.1)
  })
})
